#pragma once
// What the HTTP layer counts.

#include "asg/base/metrics.hpp"

namespace asg::http {

inline constexpr Metric kConnectionsOpened{.name = "asg_http_connections_opened_total", .help = "Connections accepted."};
inline constexpr Metric kConnectionsDropped{.name = "asg_http_connections_dropped_total",
                                            .help = "Connections closed by us: turned_away (no room), evicted (oldest without a request, to make room), "
                                                    "unwritable (reader gone or too slow)."};
inline constexpr Metric kResponses{.name = "asg_http_responses_total", .help = "Responses by HTTP status."};
inline constexpr Metric kRejected{.name = "asg_http_rejected_total",
                                  .help = "Requests refused before any MCP message was read, by reason (rate, concurrency, unauthorized, origin, size...)."};
inline constexpr Metric kReceived{.name = "asg_http_body_bytes_received_total", .help = "Bytes of request bodies."};
inline constexpr Metric kSent{.name = "asg_http_bytes_sent_total", .help = "Bytes of responses, heads included."};

}  // namespace asg::http

#include "asg/base/metrics.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace asg {

namespace {

// Seconds; from a ping to the longest run that the defaults allow.
constexpr std::array kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0};

std::string label_text(Metrics::Labels labels) {
  std::string text;
  for (const auto& [name, value] : labels) fmt::format_to(std::back_inserter(text), "{}{}=\"{}\"", text.empty() ? "" : ",", name, value);
  return text;
}

void write_sample(std::string& out, std::string_view name, const std::string& labels, auto value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
  }
}

void write_head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

Metrics::Series& Metrics::find(const Metric& metric, Labels labels) {
  auto family = families_.find(metric.name);
  if (family == families_.end()) {
    family = families_.emplace(std::string(metric.name), Family{std::string(metric.help), metric.kind, {}}).first;
  }
  return family->second.series[label_text(labels)];
}

void Metrics::add(const Metric& counter, Labels labels, std::uint64_t amount) { find(counter, labels).count += amount; }

void Metrics::observe(const Metric& histogram, Labels labels, std::chrono::duration<double> time) {
  Series& series = find(histogram, labels);
  series.buckets.resize(kBounds.size());
  ++series.count;
  series.sum += time.count();
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), time.count());
  if (bucket != kBounds.end()) ++series.buckets[static_cast<std::size_t>(bucket - kBounds.begin())];
}

void Metrics::gauge(std::string_view name, std::string_view help, std::function<double()> read) {
  gauges_[std::string(name)] = {std::string(help), std::move(read)};
}

std::string Metrics::text() const {
  std::string out;
  for (const auto& [name, family] : families_) {
    const bool counts = family.kind == Metric::Kind::counter;
    write_head(out, name, family.help, counts ? "counter" : "histogram");
    for (const auto& [labels, series] : family.series) {
      if (counts) {
        write_sample(out, name, labels, series.count);
        continue;
      }
      const std::string first = labels.empty() ? labels : labels + ",";
      std::uint64_t below = 0;
      for (std::size_t i = 0; i < kBounds.size(); ++i) {
        below += series.buckets[i];
        write_sample(out, name + "_bucket", fmt::format("{}le=\"{}\"", first, kBounds[i]), below);
      }
      write_sample(out, name + "_bucket", first + "le=\"+Inf\"", series.count);
      write_sample(out, name + "_sum", labels, series.sum);
      write_sample(out, name + "_count", labels, series.count);
    }
  }
  for (const auto& [name, gauge] : gauges_) {
    write_head(out, name, gauge.help, "gauge");
    write_sample(out, name, "", gauge.read());
  }
  return out;
}

}  // namespace asg

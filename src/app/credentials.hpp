#pragma once
// The files with keys and certificate: opened by who may (the supervisor, or the front before it gives up its privilege), read
// by the front only, so that nothing of them is ever in the memory that launcher and sandboxes are forked from.

#include <cstdint>
#include <vector>

#include "asg/base/error.hpp"
#include "asg/config/config.hpp"
#include "asg/http/credentials.hpp"
#include "asg/linux/unique_fd.hpp"

namespace asg::app {

/// The files that the configuration names, open for reading.
struct CredentialFiles {
  std::uint32_t which = 0;  // a bit for each file that is there, in the order of fds
  std::vector<sys::UniqueFd> fds;
};
[[nodiscard]] Result<CredentialFiles> open_credentials(const config::Config& config);

/// Their content.
[[nodiscard]] Result<http::Credentials> credentials_in(std::uint32_t which, const std::vector<sys::UniqueFd>& fds);

/// Error: server.listen is reachable from elsewhere and nothing asks callers who they are.
[[nodiscard]] Result<void> check_exposure(const config::Config& config);

}  // namespace asg::app

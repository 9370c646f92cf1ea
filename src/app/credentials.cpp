#include "credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "asg/config/endpoint.hpp"
#include "asg/linux/io.hpp"

namespace asg::app {
namespace {

constexpr std::size_t kMaxFileBytes = 4UL << 20;

struct File {
  const char* key;
  std::string path;
};

std::array<File, 3> files_of(const config::Config& config) {
  return {{{"access.keys_file", config.access.keys_file},
           {"tls.certificate_file", config.tls.certificate_file},
           {"tls.key_file", config.tls.key_file}}};
}

Result<std::string> read_whole(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return fail_errno("looking at a file of keys");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::invalid_argument, "keys and certificates must be regular files");
  if (std::cmp_greater(status.st_size, kMaxFileBytes)) return fail(ErrorCode::invalid_argument, "a file of keys is larger than 4 MiB");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t size = ::pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (size < 0) return fail_errno("reading a file of keys");
    if (size == 0) break;
    at += static_cast<std::size_t>(size);
  }
  text.resize(at);
  return text;
}

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

}  // namespace

Result<CredentialFiles> open_credentials(const config::Config& config) {
  CredentialFiles files;
  std::uint32_t bit = 1;
  for (const File& file : files_of(config)) {
    if (!file.path.empty()) {
      // Not blocking, should it be a pipe: read_whole() refuses that.
      auto fd = sys::open_at(AT_FDCWD, file.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
      if (!fd) return std::unexpected(fd.error().in(file.key));
      files.which |= bit;
      files.fds.push_back(std::move(*fd));
    }
    bit <<= 1;
  }
  return files;
}

Result<http::Credentials> credentials_in(std::uint32_t which, const std::vector<sys::UniqueFd>& fds) {
  std::array<std::string, 3> texts;
  auto fd = fds.begin();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if ((which >> i & 1U) == 0) continue;
    if (fd == fds.end()) return fail(ErrorCode::internal, "a file of keys did not arrive");
    auto text = read_whole((fd++)->get());
    if (!text) return std::unexpected(text.error());
    // An empty file must not mean "no file": that would open the door.
    if (text->empty()) return fail(ErrorCode::invalid_argument, "a file of keys is empty");
    texts[i] = std::move(*text);
  }
  return http::Credentials{
      .keys = std::move(texts[0]), .certificate = std::move(texts[1]), .private_key = Secret(std::move(texts[2]))};
}

Result<void> check_exposure(const config::Config& config) {
  const auto endpoint = config::parse_endpoint(config.server.listen);
  if (!endpoint || is_loopback(endpoint->address)) return {};
  if (!config.access.keys_file.empty() || config.server.allow_public_without_keys) return {};
  return fail(ErrorCode::invalid_argument, "server.listen: " + config.server.listen +
                                               " can be reached from other machines, and anybody could run code: set "
                                               "access.keys_file, or server.allow_public_without_keys = true");
}

}  // namespace asg::app

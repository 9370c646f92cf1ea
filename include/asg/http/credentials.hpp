#pragma once

#include <string>

#include "asg/base/secret.hpp"

namespace asg::http {

/// The texts of the files that access.keys_file and tls.* name; empty where none is named. They are read by whoever may, not by
/// the server, which has no privilege.
struct Credentials {
  std::string keys;
  std::string certificate;
  Secret<std::string> private_key;
};

}  // namespace asg::http

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace asg {

/// A family of numbers, as one constant of the module that counts it. help is its documentation.
struct Metric {
  enum class Kind { counter, histogram };
  std::string_view name;
  std::string_view help;
  Kind kind = Kind::counter;
};

/// What is counted while the server runs, as the text that Prometheus reads. Label values must be words of ours: each new one
/// is kept for ever. Owned by the application. Thread: the front's single thread.
class Metrics {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  using Labels = std::initializer_list<Label>;

  void add(const Metric& counter, Labels labels, std::uint64_t amount = 1);
  void observe(const Metric& histogram, Labels labels, std::chrono::duration<double> time);
  /// A number that is asked for when the text is made.
  void gauge(std::string_view name, std::string_view help, std::function<double()> read);

  [[nodiscard]] std::string text() const;

 private:
  struct Series {
    std::uint64_t count = 0;
    double sum = 0;
    std::vector<std::uint64_t> buckets;  // not cumulative
  };
  struct Family {
    std::string help;
    Metric::Kind kind = Metric::Kind::counter;
    std::map<std::string, Series> series;  // by the text of the labels
  };
  struct Gauge {
    std::string help;
    std::function<double()> read;
  };

  Series& find(const Metric& metric, Labels labels);

  std::map<std::string, Family, std::less<>> families_;
  std::map<std::string, Gauge> gauges_;
};

}  // namespace asg

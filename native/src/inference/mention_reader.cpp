#include "spanloom/inference/mention_reader.hpp"

#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

template <class Reading>
class ChainReader final : public MentionReader {
 public:
  ChainReader(std::shared_ptr<const ChainStructure> chain, std::vector<double> transitions, Reading reading)
      : chain_(std::move(chain)), transitions_(std::move(transitions)), reading_(std::move(reading)) {
    const std::size_t columns = chain_->columns();
    if (reading_.columns() != columns || transitions_.size() != columns * columns) {
      throw std::invalid_argument("[MentionReader] a chain of " + std::to_string(columns) +
                                  " columns has a reading of " + std::to_string(reading_.columns()) + " and " +
                                  std::to_string(transitions_.size()) + " transitions");
    }
  }

  std::size_t columns() const override { return chain_->columns(); }
  std::int32_t types() const override { return reading_.types(); }
  void read(std::span<const std::int32_t> cells, std::size_t, std::vector<Found>& out) const override {
    reading_.read(cells, out);
  }
  std::unique_ptr<MentionBeliefs> beliefs() const override { return mention_beliefs(*chain_, transitions_, reading_); }

 private:
  std::shared_ptr<const ChainStructure> chain_;
  std::vector<double> transitions_;
  Reading reading_;
};

}  // namespace

template <class Reading>
std::shared_ptr<const MentionReader> chain_reader(std::shared_ptr<const ChainStructure> chain,
                                                  std::vector<double> transitions, Reading reading) {
  return std::make_shared<ChainReader<Reading>>(std::move(chain), std::move(transitions), std::move(reading));
}

template std::shared_ptr<const MentionReader> chain_reader(std::shared_ptr<const ChainStructure>, std::vector<double>,
                                                           FlatReading);
template std::shared_ptr<const MentionReader> chain_reader(std::shared_ptr<const ChainStructure>, std::vector<double>,
                                                           SeparatorReading);

}  // namespace spanloom

#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace spanloom {

// Search in a locally normalised trellis, where each label is chosen given a state that sums up the labels before it:
//
//   log p(y) = sum over t of  local[t, y_t] + step[h_t, y_t] - log sum over y of exp(local[t, y] + step[h_t, y]),
//   h_0 = start,  h_{t+1} = goes[h_t, y_t]
//
// Only the labels that a state goes on by are followed, but all of them share the probability. The best sequence costs
// O(n S L) for S states at most; a beam of the best B states at each site costs O(n B L) and may miss it. As no choice
// has a log-probability above 0, what is already less probable than a whole sequence is on no better way: a narrow beam
// finds such a sequence, and of the S states those are left that may be on the best one. Of equal sequences, the one
// over the lower state is taken.
class MarkovSearch {
 public:
  // step, goes: [states + 1, labels], the last row for the start; goes is -1 where a label must not follow.
  // last: [states], the label by which a state is reached; may_end: [states].
  MarkovSearch(std::size_t labels, std::span<const double> step, std::vector<std::int32_t> goes,
               std::vector<std::int32_t> last, std::vector<std::uint8_t> may_end);

  std::size_t labels() const { return labels_; }
  std::size_t states() const { return last_.size(); }
  std::size_t stride() const { return stride_; }
  // Of a state, or of the start, whose number is that of the states: exp(step - its highest) [stride], where labels
  // lead [labels], and the label by which it is reached.
  const double* exp_step(std::size_t state) const { return &exp_step_[state * stride_]; }
  std::span<const std::int32_t> goes(std::size_t state) const { return {&goes_[state * labels_], labels_}; }
  std::int32_t last(std::size_t state) const { return last_[state]; }
  bool may_end(std::size_t state) const { return may_end_[state] != 0; }
  // Throws std::invalid_argument unless [first[s], first[s + 1]) are sites of local scores.
  void check(std::span<const double> local, std::span<const std::int64_t> first) const;

  // Fills out[t] with the best labels for local scores [sites, labels] and returns their log-probability; -inf, and
  // nothing filled, if no sequence is possible. beam: how many states to keep at each site, 0 for all.
  double best(std::span<const double> local, std::size_t beam, std::span<std::int32_t> out) const;

  // The same for many sentences: [first[s], first[s + 1]) are the sites of sentence s. The labels of a sentence without
  // a possible sequence are -1.
  std::vector<double> best_of_all(std::span<const double> local, std::span<const std::int64_t> first, std::size_t beam,
                                  int threads, std::span<std::int32_t> out) const;

 private:
  struct Room;
  double log_sum(const double* exp_local, const double* local, double top, std::size_t state) const;
  double best(std::span<const double> local, std::size_t beam, std::span<std::int32_t> out, Room& room) const;
  double search(std::span<const double> local, std::size_t beam, double least, std::span<std::int32_t> out,
                Room& room) const;

  std::size_t labels_;
  std::size_t stride_;
  std::vector<double> step_;      // [states + 1, stride]
  std::vector<double> exp_step_;  // [states + 1, stride]: exp(step - high), 0 beyond the labels
  std::vector<double> high_;      // [states + 1]: the highest step
  double largest_ = 0;            // the highest step in absolute value
  std::vector<std::int32_t> goes_;
  std::vector<std::int32_t> last_;
  std::vector<std::uint8_t> may_end_;
};

}  // namespace spanloom

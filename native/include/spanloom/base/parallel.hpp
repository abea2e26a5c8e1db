#pragma once
#include <cstddef>
#include <functional>

namespace spanloom {

// Number of threads to use: `requested` if positive, else the number of cores.
int thread_count(int requested);

// Calls body(i) for i in [0, n) on up to `threads` threads. The calls may run in any order, so a caller that reduces
// must give each i a buffer of its own and add them up in order afterwards: results are then the same for any number
// of threads. The first exception thrown by a body is rethrown here, after all threads have stopped.
void parallel_for(std::size_t n, int threads, const std::function<void(std::size_t)>& body);

}  // namespace spanloom

#include "spanloom/inference/graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace spanloom {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("[Graph] " + what); }

void check_pointers(const std::vector<std::int64_t>& ptr, std::size_t size, std::size_t end, const char* name) {
  if (ptr.size() != size + 1) {
    fail(std::string(name) + " has " + std::to_string(ptr.size()) + " entries, not " + std::to_string(size + 1));
  }
  if (ptr.front() != 0 || ptr.back() != static_cast<std::int64_t>(end)) {
    fail(std::string(name) + " must run from 0 to " + std::to_string(end));
  }
  for (std::size_t i = 1; i < ptr.size(); ++i) {
    if (ptr[i] < ptr[i - 1]) fail(std::string(name) + " descends at " + std::to_string(i));
  }
}

}  // namespace

void Graph::check() const {
  if (edge_ptr.empty() || tail_ptr.empty() || cell_ptr.empty()) fail("a pointer array is empty");
  if (nodes() == 0) fail("there is no node, so no root");
  check_pointers(edge_ptr, nodes(), edges(), "edge_ptr");
  check_pointers(tail_ptr, edges(), tails.size(), "tail_ptr");
  check_pointers(cell_ptr, edges(), cells.size(), "cell_ptr");
  for (std::size_t v = 0; v < nodes(); ++v) {
    for (std::int64_t e = edge_ptr[v]; e < edge_ptr[v + 1]; ++e) {
      for (std::int64_t i = tail_ptr[e]; i < tail_ptr[e + 1]; ++i) {
        if (tails[i] < 0 || static_cast<std::size_t>(tails[i]) >= v) {
          fail("edge " + std::to_string(e) + " into node " + std::to_string(v) + " has the tail " +
               std::to_string(tails[i]) + "; tails must be below their head");
        }
      }
    }
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] < 0 || cells[i] >= cell_count) {
      fail("cell " + std::to_string(cells[i]) + " is not in [0, " + std::to_string(cell_count) + ")");
    }
  }
}

Graph without(const Graph& graph, const std::vector<bool>& forbidden) {
  Graph out;
  out.cell_count = graph.cell_count;
  for (std::size_t v = 0; v < graph.nodes(); ++v) {
    for (std::int64_t e = graph.edge_ptr[v]; e < graph.edge_ptr[v + 1]; ++e) {
      const auto first = graph.cells.begin() + graph.cell_ptr[e];
      const auto last = graph.cells.begin() + graph.cell_ptr[e + 1];
      const auto bad = [&](std::int32_t c) {
        return static_cast<std::size_t>(c) < forbidden.size() && forbidden[static_cast<std::size_t>(c)];
      };
      if (std::any_of(first, last, bad)) continue;
      out.cells.insert(out.cells.end(), first, last);
      out.cell_ptr.push_back(static_cast<std::int64_t>(out.cells.size()));
      out.tails.insert(out.tails.end(), graph.tails.begin() + graph.tail_ptr[e],
                       graph.tails.begin() + graph.tail_ptr[e + 1]);
      out.tail_ptr.push_back(static_cast<std::int64_t>(out.tails.size()));
    }
    out.edge_ptr.push_back(static_cast<std::int64_t>(out.edges()));
  }
  return out;
}

std::int32_t GraphBuilder::node() {
  graph_.edge_ptr.push_back(graph_.edge_ptr.back());
  return static_cast<std::int32_t>(graph_.nodes() - 1);
}

void GraphBuilder::edge(std::span<const std::int32_t> tails, std::span<const std::int32_t> cells) {
  graph_.tails.insert(graph_.tails.end(), tails.begin(), tails.end());
  graph_.tail_ptr.push_back(static_cast<std::int64_t>(graph_.tails.size()));
  graph_.cells.insert(graph_.cells.end(), cells.begin(), cells.end());
  graph_.cell_ptr.push_back(static_cast<std::int64_t>(graph_.cells.size()));
  ++graph_.edge_ptr.back();
}

Graph GraphBuilder::finish() {
  graph_.check();
  return std::exchange(graph_, Graph{});
}

}  // namespace spanloom

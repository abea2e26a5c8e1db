#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>

#include "arrays.hpp"
#include "attribute_reader.hpp"
#include "bindings.hpp"
#include "spanloom/text/jenkins.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

// Labelled sequences for training, with names of attributes and labels numbered as they come.
struct AttributeCorpus {
  StringPool attributes;
  StringPool labels;
  AttributeSequences data;
  std::vector<std::int32_t> groups;  // [sequences]: the group of each, to hold some out

  void append(nb::handle xseq, nb::handle yseq, std::int32_t group) {
    try {
      read_sequence(xseq, attributes, true, data, data.groups());
      const auto first = static_cast<std::size_t>(data.group_ptr[data.groups() - 1]);
      read_labels(yseq, first);
    } catch (...) {
      if (data.groups() > groups.size()) data.group_ptr.pop_back();
      data.undo();
      throw;
    }
    groups.push_back(group);
  }

 private:
  void read_labels(nb::handle yseq, std::size_t first) {
    Place place{groups.size(), 0, "sequence", "item"};
    const nb::object given = sequence(yseq, "the labels of sequence " + std::to_string(groups.size()));
    const std::size_t items = data.items() - first;
    if (length(given) != items) {
      throw std::invalid_argument("sequence " + std::to_string(groups.size()) +
                                  ": the numbers of items and labels differ: |x| = " + std::to_string(items) +
                                  ", |y| = " + std::to_string(length(given)));
    }
    for (; place.token < items; ++place.token) {
      const nb::handle label = item(given, place.token);
      const bool bytes = PyBytes_Check(label.ptr());
      if (!bytes && !PyUnicode_Check(label.ptr())) {
        place.fail("the label is " + ascii(label) + " (" + type_of(label) + "); it must be a str");
      }
      data.labels.push_back(
          static_cast<std::int32_t>(labels.insert(bytes ? bytes_text(label, place) : utf8(label, place))));
    }
  }
};

}  // namespace

void read_sequence(nb::handle given, StringPool& names, bool grow, AttributeSequences& out, std::size_t number) {
  if (nb::isinstance<ItemSequence>(given)) {
    const auto& ready = nb::cast<const ItemSequence&>(given);
    std::vector<std::uint32_t> ids(ready.names.size());
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      ids[i] = grow ? names.insert(ready.names[i]) : names.find(ready.names[i]);
    }
    for (std::size_t r = 0; r < ready.data.items(); ++r) {
      for (std::int64_t e = ready.data.row_ptr[r]; e < ready.data.row_ptr[r + 1]; ++e) {
        const std::uint32_t id = ids[ready.data.ids[e]];
        if (id != kNone) out.add(id, ready.data.values[e]);
      }
      out.close_item();
    }
    out.close_sequence();
    return;
  }
  Attributes attributes(names, grow, out);
  ItemReader reader(attributes);
  const nb::object items = sequence(given, "sequence " + std::to_string(number));
  Place place{number, 0, "sequence", "item"};
  for (; place.token < length(items); ++place.token) {
    reader.read(item(items, place.token), place);
    attributes.close_item();
  }
  out.close_sequence();
}

nb::list strings(const StringPool& pool) {
  nb::list out;
  for (std::uint32_t i = 0; i < pool.size(); ++i) out.append(nb::str(pool[i].data(), pool[i].size()));
  return out;
}

void bind_attributes(nb::module_& m) {
  m.def(
      "jenkins_hash", [](const nb::bytes& text) { return jenkins_hash({text.c_str(), text.size()}); }, "text"_a,
      "Bob Jenkins' lookup3 hash of bytes.");

  nb::class_<ItemSequence>(m, "ItemSequence", "Items with their attributes, read from Python objects once.")
      .def(
          "__init__",
          [](ItemSequence* self, nb::handle items) {
            ItemSequence read;
            read_sequence(items, read.names, true, read.data, 0);
            new (self) ItemSequence(std::move(read));
          },
          "items"_a)
      .def("__len__", [](const ItemSequence& self) { return self.data.items(); })
      .def("__repr__",
           [](const ItemSequence& self) { return "<ItemSequence of size " + std::to_string(self.data.items()) + ">"; })
      .def(
          "items",
          [](const ItemSequence& self) {
            nb::list out;
            for (std::size_t r = 0; r < self.data.items(); ++r) {
              nb::dict one;
              for (std::int64_t e = self.data.row_ptr[r]; e < self.data.row_ptr[r + 1]; ++e) {
                const std::string_view name = self.names[self.data.ids[e]];
                one[nb::str(name.data(), name.size())] = self.data.values[e];
              }
              out.append(one);
            }
            return out;
          },
          nb::sig("def items(self) -> list[dict[str, float]]"), "The attributes of every item, with their values.");

  nb::class_<AttributeSequences>(m, "AttributeSequences", "Sequences of items with numbered attributes.")
      .def_prop_ro("groups", &AttributeSequences::groups, "Number of sequences.")
      .def_prop_ro("items", &AttributeSequences::items, "Number of items of all sequences.")
      .def_prop_ro("group_ptr",
                   [](nb::handle self) { return view(nb::cast<AttributeSequences&>(self).group_ptr, self); })
      .def_prop_ro("labels", [](nb::handle self) { return view(nb::cast<AttributeSequences&>(self).labels, self); })
      .def("rows", &AttributeSequences::rows, "width"_a, nb::call_guard<nb::gil_scoped_release>(),
           "The attributes as rows for training.");

  nb::class_<AttributeCorpus>(m, "AttributeCorpus", "Labelled sequences to be learned from.")
      .def(nb::init<>())
      .def("append", &AttributeCorpus::append, "xseq"_a, "yseq"_a, "group"_a = 0)
      .def("clear", [](AttributeCorpus& self) { self = AttributeCorpus{}; })
      .def_prop_ro("attributes", [](const AttributeCorpus& self) { return self.attributes.size(); })
      .def_prop_ro("labels", [](const AttributeCorpus& self) { return self.labels.size(); })
      .def(
          "attribute_names", [](const AttributeCorpus& self) { return strings(self.attributes); },
          nb::sig("def attribute_names(self) -> list[str]"))
      .def(
          "label_names", [](const AttributeCorpus& self) { return strings(self.labels); },
          nb::sig("def label_names(self) -> list[str]"))
      .def_prop_ro("groups", [](nb::handle self) { return view(nb::cast<AttributeCorpus&>(self).groups, self); })
      .def_prop_ro(
          "sequences", [](AttributeCorpus& self) -> AttributeSequences& { return self.data; },
          nb::rv_policy::reference_internal, "All of them; they change with the corpus.")
      .def(
          "select",
          [](const AttributeCorpus& self, const Input<std::int64_t>& groups) { return self.data.select(span(groups)); },
          "sequences"_a, "Some of the sequences, with their labels.");
}

}  // namespace spanloom::bindings

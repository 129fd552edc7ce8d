// The Python class of PackedWeights.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bind/module.hpp"
#include "bind/packed_weights.hpp"

namespace tagalong::bind {

template <class T>
static nb::typed<nb::list, NumPy<>> unpacked(const PackedWeights& self) {
    const PackedSpans spans = self.spans();
    RowUnpacker<T> rows(self.width, self.planes, spans);
    std::vector<Owned<T>> planes;
    for (std::size_t plane = 0; plane < self.planes; ++plane)
        planes.emplace_back(std::vector<std::size_t>{self.rows, self.width});
    for (std::size_t r = 0; r < self.rows; ++r) {
        if (!rows.read()) throw InputError("packed weights are incomplete or damaged");
        std::copy_n(rows.first(), self.width, planes[0].data + r * self.width);
        if (self.planes > 1)
            std::copy_n(rows.second(), self.width, planes[1].data + r * self.width);
    }
    if (!rows.complete()) throw InputError("packed weights have numbers of more rows");
    nb::typed<nb::list, NumPy<>> out;
    for (const Owned<T>& plane : planes) out.append(plane.array);
    return out;
}

static PackedWeights from_streams(std::pair<std::size_t, std::size_t> shape, std::size_t planes,
                                  const std::string& dtype,
                                  const std::vector<VectorOf<std::uint8_t>>& streams) {
    if (dtype != "float32" && dtype != "float64")
        throw InputError("packed weights are float32 or float64, not " + dtype);
    if (planes != 1 && planes != 2) throw InputError("packed weights have one or two planes");
    if (streams.size() != kPackedStreams)
        throw InputError("packed weights have " + std::to_string(kPackedStreams) + " streams");
    PackedWeights out{shape.first, shape.second, planes, dtype == "float64", {}};
    for (std::size_t s = 0; s < kPackedStreams; ++s) out.streams[s].push_back(streams[s]);
    // Nothing is allocated for rows that have no mask.
    const std::size_t per_row = (out.width + 7) / 8, mask = out.streams[0][0].shape(0);
    if (per_row == 0 ? mask != 0 : mask % per_row != 0 || mask / per_row != out.rows)
        throw InputError("packed weights have a mask of another shape");
    return out;
}

template <class T>
static PackedWeights pack_planes(const PlaneOf<T>& first, const std::optional<PlaneOf<T>>& second) {
    const std::size_t rows = first.shape(0), width = first.shape(1);
    if (second && (second->shape(0) != rows || second->shape(1) != width))
        throw InputError("the planes have different shapes");
    RowPacker<T> packer(width, second ? 2 : 1);
    for (std::size_t r = 0; r < rows; ++r)
        packer.add(first.data() + r * width, second ? second->data() + r * width : nullptr);
    return finished(packer, rows, width, second ? 2 : 1);
}

void add_packed_weights(nb::module_& module) {
    nb::class_<PackedWeights>(module, "PackedWeights")
        .def_prop_ro_static(
            "STREAMS",
            [](nb::handle) {
                nb::list names;
                for (const char* name : kPackedStreamNames) names.append(name);
                return nb::typed<nb::tuple, nb::str, nb::ellipsis>(nb::tuple(names));
            })
        .def_static("from_streams", &from_streams, nb::arg("shape"), nb::arg("planes"),
                    nb::arg("dtype"), nb::arg("streams"))
        .def_static("pack", &pack_planes<float>, nb::arg("first"), nb::arg("second") = nb::none())
        .def_static("pack", &pack_planes<double>, nb::arg("first"), nb::arg("second") = nb::none())
        .def_prop_ro(
            "shape",
            [](const PackedWeights& self) { return std::make_pair(self.rows, self.width); })
        .def_ro("planes", &PackedWeights::planes)
        .def_prop_ro("dtype",
                     [](const PackedWeights& self) { return self.doubles ? "float64" : "float32"; })
        .def(
            "chunks",
            [](const PackedWeights& self, std::size_t stream) {
                if (stream >= kPackedStreams) throw InputError("there is no such stream");
                return self.streams[stream];
            },
            nb::arg("stream"))
        .def("tobytes",
             [](const PackedWeights& self) {
                 std::string out;
                 for (const auto& stream : self.streams)
                     for (const auto& chunk : stream)
                         out.append(reinterpret_cast<const char*>(chunk.data()), chunk.shape(0));
                 return nb::bytes(out.data(), out.size());
             })
        .def("unpacked", [](const PackedWeights& self) {
            return self.doubles ? unpacked<double>(self) : unpacked<float>(self);
        });
}

}  // namespace tagalong::bind

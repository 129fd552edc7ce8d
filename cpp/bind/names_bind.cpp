// Examples as dictionaries of names: feature numbers and values in one pass over the dictionary.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstdint>
#include <optional>

#include "bind/arrays.hpp"
#include "bind/module.hpp"

namespace tagalong::bind {

// Reads a float or an integer of 64 bits; false for everything else, and if it is not finite. Reads
// exact types only: those of subclasses may run Python code, which could change the dictionary.
static bool read_number(PyObject* value, double& out) {
    if (PyFloat_CheckExact(value)) {
        out = PyFloat_AS_DOUBLE(value);
        return std::isfinite(out);
    }
    if (!PyLong_CheckExact(value)) return false;
    int overflow = 0;
    const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    out = static_cast<double>(integer);
    return overflow == 0;
}

// Writes the numbers of the names in `x` and their values. Names that are not in `known` are
// appended to `new_names` and numbered on from the known ones; without that list they are left out.
// Returns how many entries were written, or -1 if a key is no string or a value no finite number of
// Python: the caller then has to look at each entry. Nothing is recorded in `known`.
using NumberArrayOut = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ValueArrayOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
static std::int64_t number_names(const nb::dict& known, const nb::dict& x,
                                 const std::optional<nb::list>& new_names,
                                 const NumberArrayOut& numbers, const ValueArrayOut& values) {
    const std::size_t room = std::min(numbers.shape(0), values.shape(0));
    if (!PyDict_CheckExact(x.ptr()) || static_cast<std::size_t>(PyDict_GET_SIZE(x.ptr())) > room)
        return -1;
    std::int32_t* const number_out = numbers.data();
    double* const value_out = values.data();
    std::int64_t written = 0, next_number = PyDict_GET_SIZE(known.ptr());
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(x.ptr(), &position, &name, &value)) {
        if (!PyUnicode_CheckExact(name) || !read_number(value, value_out[written])) return -1;
        if (PyObject* number = PyDict_GetItemWithError(known.ptr(), name)) {
            number_out[written++] = static_cast<std::int32_t>(PyLong_AsLong(number));
        } else if (new_names) {
            if (PyList_Append(new_names->ptr(), name) != 0) throw nb::python_error();
            number_out[written++] = static_cast<std::int32_t>(next_number++);
        }
    }
    return written;
}

void add_names(nb::module_& module) {
    module.def("number_names", &number_names, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
               nb::arg(),
               nb::sig("def number_names(known: dict[str, int], x: dict[typing.Any, typing.Any], "
                       "new_names: list[str] | None, "
                       "numbers: numpy.typing.NDArray[numpy.int32], "
                       "values: numpy.typing.NDArray[numpy.float64], /) -> int"));
}

}  // namespace tagalong::bind

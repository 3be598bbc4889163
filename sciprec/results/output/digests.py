"""Digests by which a stored dataset proves that its values and attributes are those written.

Each variable has a digest for every record (index of time; one digest where it has no axis of
time), of its decoded values: they depend neither on the format of a file nor on chunks,
compression, threads or the byte order of a machine. A root covers these digests, names, axes, types
and attributes. A second root leaves out what differs from one computation of the same run to the
next, and how the run is judged; lists of runs hold it.

    variable.attrs["sciprec_digests"]        12 hexadecimal digits for each record
    dataset.attrs["sciprec_digest"]          the root of everything
    dataset.attrs["sciprec_digest_of_run"]   the root of all but the circumstances
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.memory import PEAK_MEMORY
from sciprec.results.output.dataset import PROCESSOR_SECONDS, PROCESSOR_SECONDS_RANGE
from sciprec.results.output.pieces import TIME, is_large, pieces_of, times_of
from sciprec.results.output.stated import SCENARIO, SECONDS

RECORDS = "sciprec_digests"
"""Attribute of a variable: digests of its records, one behind the other."""
OF_BOUNDS = "sciprec_digests_of_bounds"
"""Like RECORDS, for the bounds of an axis: CF wants attributes that both have to agree."""
ROOT = "sciprec_digest"
"""Attribute of a dataset: the digest of all that it holds."""
OF_RUN = "sciprec_digest_of_run"
"""Attribute of a dataset: the same of all that every computation of the run gives alike."""
CIRCUMSTANCES = (
    SECONDS, PROCESSOR_SECONDS, PROCESSOR_SECONDS_RANGE, "wall_seconds", PEAK_MEMORY, "history",
    "source", "sciprec_provenance", SCENARIO,
)  # fmt: skip
"""Attributes of a dataset that its second root leaves out: times, memory, machine and versions; and
the scenario as it is judged, since a file is given another one when tolerances change."""
DIGITS = 12
MOST_RECORDS = 4096
"""Digests of a variable: HDF5 keeps at most 64 KB in an attribute. Where there are more records,
several have one digest together."""
_TEXTS = "UOT"
_PACKING = {"_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned", "dtype"}
"""Attributes of a variable that reading follows."""
_MOST_NAMED = 3
_LEFT_OUT = {RECORDS, OF_BOUNDS, ROOT, OF_RUN, "coordinates", "CLASS", "NAME", "DIMENSION_LIST"}
"""Attributes that no root covers: digests, and what libraries write of their own accord; so are
those whose names begin with '_'."""


def seal(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with its digests as attributes, to be written as it is.

    A large dataset is read in pieces, of which nothing is held; another one is loaded.

    Example:
        `files.write(digests.seal(dataset), path)`
    """
    sealed = dataset.copy()
    if not is_large(dataset):
        sealed.load()  # so that nothing is read again when it is written
    variables, attributes = _as_read(sealed)
    digests = {name: "".join(_records(variable)) for name, variable in variables.items()}
    keys = _keys(variables)
    for name, variable in sealed.variables.items():
        variable.attrs = {**variable.attrs, keys[name]: digests[name]}
    sealed.attrs = {
        **dataset.attrs,
        ROOT: _root(variables, attributes, digests),
        OF_RUN: _root(variables, attributes, digests, CIRCUMSTANCES),
    }
    return sealed


def is_sealed(dataset: xr.Dataset) -> bool:
    """Whether a dataset has any digest: files of versions before 0.2, and of others, have none."""
    owners = (dataset, *dataset.variables.values())
    return any({ROOT, OF_RUN, RECORDS, OF_BOUNDS} & set(owner.attrs) for owner in owners)


def damage(dataset: xr.Dataset) -> str:
    """The damage of a sealed dataset, as the end of a sentence that begins with its file; empty
    where everything is as it was written.

    Values are read, in pieces, only where names, axes, types and attributes are right.

    Args:
        dataset: as it is read from a file, times being numbers.

    Raises:
        OSError: the system does not let values be read, which says nothing of them.
    """
    variables, attributes = dataset.variables, dataset.attrs
    keys = _keys(variables)
    stored = {name: variable.attrs.get(keys[name]) for name, variable in variables.items()}
    missing = [f" of '{name}'" for name, digests in stored.items() if digests is None]
    if missing or not {ROOT, OF_RUN} <= set(attributes):
        return f"has lost the digest{''.join(missing[:1])} that it was written with"
    roots = (
        _root(variables, attributes, stored),
        _root(variables, attributes, stored, CIRCUMSTANCES),
    )
    if (attributes[ROOT], attributes[OF_RUN]) != roots:
        return "has other names, axes, types or attributes than were written"
    changed = (_changed(name, variable, stored[name]) for name, variable in variables.items())
    phrases = [words for words in changed if words]
    further = [f"{len(phrases) - _MOST_NAMED} more"] if len(phrases) > _MOST_NAMED else []
    named = " and ".join([*phrases[:_MOST_NAMED], *further])
    return f"has changed since it was written, in {named}" if phrases else ""


def _changed(name: Any, variable: xr.Variable, written: str) -> str:
    """The variable and its records whose values are not as they were written; empty: all are."""
    try:
        digests = enumerate(_records(variable))
        wrong = [k for k, digest in digests if digest != written[k * DIGITS : (k + 1) * DIGITS]]
    except Exception as error:  # the libraries raise anything for damaged bytes
        if isinstance(error, OSError) and (error.errno or 0) > 0:  # below: NetCDF's own
            raise
        words = " ".join((str(error) or type(error).__name__).split())
        return f"'{name}', which cannot be read ({words:.120})"
    if not wrong or TIME not in variable.dims:
        return f"'{name}'" if wrong else ""
    size = _group(variable)
    first, last = wrong[0] * size, min((wrong[0] + 1) * size, variable.sizes[TIME]) - 1
    which = f"record {first}" if first == last else f"records {first} to {last}"
    further = f" and {len(wrong) - 1} more of {len(written) // DIGITS}" if len(wrong) > 1 else ""
    return f"'{name}' ({which}{further})"


def _as_read(dataset: xr.Dataset) -> tuple[dict[Any, xr.Variable], dict[Any, Any]]:
    """Variables and attributes as a file will give them back, without numbers being touched: such
    attributes are followed as say how values are packed.
    """
    encoded = {}
    for name, variable in dataset.variables.items():
        if variable.dtype.kind in "fiu" and not _PACKING & set(variable.attrs):
            encoded[name] = variable  # encoding it would read its values
            continue
        plain = variable.copy(deep=False)
        plain.encoding = {}
        encoded[name] = xr.conventions.encode_cf_variable(
            plain.compute() if plain.dtype == object else plain, name=name
        )
    decoded, attributes, _ = xr.conventions.decode_cf_variables(
        encoded, dict(dataset.attrs), decode_times=False, decode_coords=False
    )
    return decoded, attributes


def _root(
    variables: Mapping[Any, xr.Variable], attributes: Mapping[Any, Any], stored: Mapping[Any, str],
    left_out: Collection[str] = (),
) -> str:  # fmt: skip
    """A digest of names, axes, types, attributes and the digests of values."""
    axis_of = {str(variable.attrs.get("bounds")): variable for variable in variables.values()}
    about = {
        _name(name): {
            "axes": [*map(_name, variable.dims)], "shape": variable.shape,
            "type": _type(variable.dtype), "digests": stored[name],
            "attributes": _plain_attributes(
                variable.attrs, _repeated(variable, axis_of.get(str(name)))
            ),
        }
        for name, variable in variables.items()
    }  # fmt: skip
    content = {"attributes": _plain_attributes(attributes, left_out), "variables": about}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _repeated(bounds: xr.Variable, axis: xr.Variable | None) -> Collection[str]:
    """Attributes of an axis that its bounds repeat, which netCDF files leave out."""
    if axis is None:
        return ()
    attrs, others = bounds.attrs, axis.attrs
    return [n for n in attrs if n in others and _plain(attrs[n]) == _plain(others[n])]


def _keys(variables: Mapping[Any, xr.Variable]) -> dict[Any, str]:
    """The attribute that holds its digests, by variable."""
    bounds = {str(variable.attrs.get("bounds")) for variable in variables.values()}
    return {name: OF_BOUNDS if str(name) in bounds else RECORDS for name in variables}


def _name(name: Any) -> str:
    """A name as netCDF keeps it."""
    return _text(unicodedata.normalize("NFC", str(name)))


def _text(text: str) -> str:
    """A text as the C library keeps it: up to its first null."""
    return text.partition("\0")[0]


def _type(dtype: np.dtype) -> str:
    """A type of values, whatever its byte order; texts are alike, of a fixed length or not."""
    return "text" if dtype.kind in _TEXTS else "bytes" if dtype.kind == "S" else dtype.str[1:]


def _plain_attributes(
    attributes: Mapping[Any, Any], left_out: Collection[str] = ()
) -> dict[str, Any]:
    """Attributes as plain data that are the same before they are written and after."""
    return {
        _name(name): _plain(value)
        for name, value in attributes.items()
        if not (name in _LEFT_OUT or name in left_out or str(name).startswith("_"))
    }


def _plain(value: Any) -> Any:
    """An attribute as plain data: NumPy's numbers are Python's, an array is a list, and a list of
    one is what is in it.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        with contextlib.suppress(ValueError):  # lists of several lengths
            value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return _plain(value[0]) if len(value) == 1 else [*map(_plain, value)]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return _text(value) if isinstance(value, str) else value


def _group(variable: xr.Variable) -> int:
    """The number of records that have a digest together."""
    return max(1, -(-variable.sizes[TIME] // MOST_RECORDS))


def _records(variable: xr.Variable) -> Iterator[str]:
    """The digests of a variable's values, one after another."""
    if TIME not in variable.dims:
        digest = hashlib.sha256()
        for piece in pieces_of(variable):
            digest.update(_content(piece))
        yield digest.hexdigest()[:DIGITS]
        return
    group = _group(variable)
    for values in times_of(variable, group):
        count = len(values)
        if values.dtype.kind in _TEXTS + "S":
            rows = [_content(values[k : k + 1]) for k in range(count)]
        else:
            content = _content(values)
            size = len(content) // count
            rows = [content[k * size : (k + 1) * size] for k in range(count)]
        for start in range(0, count, group):
            digest = hashlib.sha256()
            for row in rows[start : start + group]:
                digest.update(row)
            yield digest.hexdigest()[:DIGITS]


def _content(values: np.ndarray) -> Any:
    """The bytes of values: little-endian, every NaN alike, texts behind their lengths."""
    kind = values.dtype.kind
    if kind in _TEXTS + "S":
        texts = (text if isinstance(text, bytes) else _text(str(text)).encode("utf-8", "replace")
                 for text in values.ravel().tolist())  # fmt: skip
        return b"".join(len(text).to_bytes(8, "little") + text for text in texts)
    if kind in "fc" and values.dtype.char in "gG":  # some bytes of each are no part of it
        with np.errstate(invalid="ignore"):
            parts = values.astype(complex), values - values.astype(complex)
        values = np.stack(parts, axis=-1).astype(complex)
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(-1)
    if kind == "c":
        values = values.view(f"<f{values.dtype.itemsize // 2}")
    if kind in "fc" and values.size:
        with np.errstate(invalid="ignore"):
            some = np.isnan(values.min())
        if some:
            values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return memoryview(values.view(np.uint8))

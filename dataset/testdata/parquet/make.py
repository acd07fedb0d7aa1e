"""Writes small Parquet files, as several programs write them, beside this script, and values.json with their values.

Made with pyarrow 26.0.1, polars 2.1.0, duckdb 2.0.1, fastparquet 2026.9.0,
datasets 5.2.0 and pandas 3.1.1. Every file is read again by the program that wrote it, and must
have the values. A column has the name of its type; _n stands for missing values."""
import datetime, decimal, json, os, uuid
import datasets, duckdb, fastparquet, numpy as np, pandas as pd, PIL.Image, polars as pl, pyarrow as pa, pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))
rng, n = np.random.default_rng(1), 20
whole = lambda low, high, kind: pa.array(np.r_[low, high, rng.integers(low, high, n - 2, dtype=kind)].astype(kind))
digits = lambda most, scale: [decimal.Decimal(int(x)).scaleb(-scale) for x in np.r_[-most, rng.integers(-most, most, n - 1)]]
moments = lambda unit, per, zone=None: pa.array(rng.integers(-10**9, 2 * 10**9, n) * per + per // 8, pa.timestamp(unit, zone))
words = ["a", "bb", "", "ä ö", 'x,"y"']
text = [words[i % 5] + str(i // 7) for i in range(n)]
columns = {
    "bool": pa.array([i % 3 > 0 for i in range(n)]), "ones": pa.array([True] * n),
    **{f"{sign}int{bits}": whole(*(lambda of: (of.min, of.max))(np.iinfo(f"{sign}int{bits}")), f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "counted": pa.array(range(n), pa.int64()),
    "float16": pa.array(rng.normal(size=n).astype("float16")), "float32": pa.array(rng.normal(size=n).astype("float32")), "float64": pa.array(rng.normal(size=n) * 1e10),
    "decimal32": pa.array(digits(99999, 2), pa.decimal128(9, 2)), "decimal64": pa.array(digits(10**15, 3), pa.decimal128(18, 3)), "decimal128": pa.array(digits(10**18, 4), pa.decimal128(38, 4)),
    "date": pa.array(rng.integers(-4000, 30000, n).astype("int32"), pa.date32()), "time": pa.array(rng.integers(0, 86399, n) * 10**6 + 250000, pa.time64("us")),
    "milliseconds": moments("ms", 10**3), "microseconds": moments("us", 10**6), "nanoseconds": moments("ns", 10**9), "zone": moments("us", 10**6, "UTC"),
    "duration": pa.array(rng.integers(0, 10**9, n), pa.duration("us")),
    "string": pa.array(text), "binary": pa.array(text).cast(pa.binary()), "category": pa.array(text).dictionary_encode(), "null": pa.nulls(n),
}
missing = rng.random(n) < 0.3
for name in list(columns):
    a = columns[name]
    columns[name + "_n"] = pa.array([None if gone else v for v, gone in zip(a.to_pylist(), missing)], a.type.value_type if name == "category" else a.type) if name != "nanoseconds" else pa.array(a.cast(pa.int64()).to_numpy(), pa.int64(), mask=missing).cast(a.type)


def shortest(fraction):  # of a second
    return fraction.rstrip("0").rstrip(".")


def canonical(a):
    """The values of an array as text: Arrow's own, with the shortest fraction of a second."""
    if isinstance(a, pa.ChunkedArray):
        a = a.combine_chunks()
    if pa.types.is_dictionary(a.type):
        a = a.cast(a.type.value_type)
    if pa.types.is_duration(a.type):
        a = a.cast(pa.int64())
    if pa.types.is_binary(a.type) or pa.types.is_large_binary(a.type):
        a = a.cast(pa.large_string())
    if pa.types.is_floating(a.type):
        return ["" if v is None else repr(float(v)) for v in a.to_pylist()]
    zone = "+00:00" if pa.types.is_timestamp(a.type) and a.type.tz else ""
    if zone:
        a = a.cast(pa.timestamp(a.type.unit))
    if pa.types.is_timestamp(a.type) or pa.types.is_time(a.type):
        return ["" if v is None else shortest(v) + zone for v in a.cast(pa.string()).to_pylist()]
    if pa.types.is_boolean(a.type):
        return ["" if v is None else str(v).lower() for v in a.to_pylist()]
    return ["" if v is None else str(v) for v in a.to_pylist()]


values = {name: canonical(a) for name, a in columns.items()}
json.dump(values, open("values.json", "w"), indent=0, ensure_ascii=False)


def verify(path, read):
    for name, a in read.items():
        assert canonical(a) == values[name], (path, name, canonical(a), values[name])


def table(but=(), codec=""):
    """The columns as a table, but few for some codecs, to keep the files small."""
    few = ("bool", "int64", "float32", "string") if codec in ("snappy", "gzip", "brotli") else [name.removesuffix("_n") for name in columns]
    return pa.table({name: a for name, a in columns.items() if name.removesuffix("_n") in few and name.removesuffix("_n") not in but})


floats, integers, times = ("float16", "float32", "float64"), [f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)] + ["counted"], ["date", "time", "milliseconds", "microseconds", "nanoseconds", "zone", "duration"]
def encodings(of):
    return {name: kind for name in columns for names, kind in of.items() if name.removesuffix("_n") in names}


fixed = ("decimal32", "decimal64", "decimal128")
kinds = {
    "plain": dict(use_dictionary=False), "dictionary": dict(),
    "delta": dict(use_dictionary=False, column_encoding=encodings({(*integers, *times): "DELTA_BINARY_PACKED", ("string", "category"): "DELTA_LENGTH_BYTE_ARRAY", ("binary", *fixed): "DELTA_BYTE_ARRAY"})),
    "split": dict(use_dictionary=False, column_encoding=encodings({(*floats, *integers, *times, *fixed): "BYTE_STREAM_SPLIT", ("string",): "DELTA_BYTE_ARRAY"})),
}
codecs = iter(["none", "snappy", "gzip", "zstd", "brotli"] * 2)
for version in "12":
    for kind, settings in kinds.items():
        path, of = f"pyarrow-v{version}-{kind}.parquet", table(("bool", "ones") if version == "2" else ())
        pq.write_table(of, path, compression=next(codecs), data_page_version=version + ".0", write_statistics=False, store_schema=False, row_group_size=13 if kind == "split" else n, **settings)
        verify(path, {name: pq.read_table(path)[name].cast(of[name].type) for name in of.column_names})
for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli"):
    path, of = f"polars-{codec}.parquet", pl.from_arrow(table(("float16",), codec))
    of.write_parquet(path, compression=codec, statistics=False)
    verify(path, {name: pl.read_parquet(path)[name].to_arrow() for name in of.columns})
    for version in ("V1", "V2") if codec == "zstd" else ("V1",):
        path, of = f"duckdb-{codec}-{version}.parquet", table(("float16", "null", "duration", *(("int32", "uint32") if version == "V2" else ())), codec)
        duckdb.sql(f"copy of to '{path}' (format parquet, compression '{codec}', parquet_version {version})")
        back = duckdb.sql(f"from '{path}'").to_arrow_table()
        verify(path, {name: back[name] for name in of.column_names})
    path, of = f"fastparquet-{codec}.parquet", table(("date", "time", "duration", "null", "float16", *fixed, "zone", "bool", "nanoseconds", "milliseconds", "microseconds", "category", "binary"), codec)
    of = of.drop_columns([name for name in of.column_names if name.endswith("_n") and "int" in name or name in ("counted_n", "ones_n")]).to_pandas()
    fastparquet.write(path, of, compression=codec.upper(), row_group_offsets=11, stats=False)
    back = fastparquet.ParquetFile(path).to_pandas()
    verify(path, {name: pa.array(back[name], from_pandas=True).cast(columns[name].type) for name in of.columns})

# columns that are refused
few = pa.array(range(4), pa.int64())
pq.write_table(pa.table({
    "truth": pa.array([True] * 4), "lz4": few, "bytes4": pa.array([b"1234"] * 4, pa.binary(4)), "bytes16": pa.array([b"1234567890123456"] * 4, pa.binary(16)),
    "list": pa.array([[1, 2]] * 4), "struct": pa.array([{"a": 1, "b": 2}] * 4), "picture": pa.array([{"bytes": b"\x89PNG", "path": "a"}] * 4), "map": pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "png": pa.array([b"\x89PNG\r\n"] * 4), "kept": few, "uuid": pa.array([uuid.UUID(int=7).bytes] * 4, pa.uuid()),
}), "refused-pyarrow.parquet", data_page_version="2.0", compression={"lz4": "lz4"}, write_statistics=False, store_schema=False)
times = pa.table({"int96": pa.array([1, 2, 3, 4], pa.timestamp("ns"))})
pq.write_table(times, "refused-int96.parquet", use_deprecated_int96_timestamps=True)
fastparquet.write("refused-fastparquet.parquet", times.to_pandas(), times="int96")
pl.DataFrame({"int128": pl.Series([2**100, -5, 7, 0], dtype=pl.Int128), "uint128": pl.Series([2**100, 5, 7, 0], dtype=pl.UInt128)}).write_parquet("refused-polars.parquet")
duckdb.sql("copy (select x::int as int32, (x::bigint + 2147483648)::uinteger as uint32, (x // 2)::int as narrow, to_days(1) as interval from (values (2147483647), (-2147483648), (5), (-7)) t(x)) to 'refused-duckdb.parquet' (parquet_version V2)")
for kept, added in (("UNCOMPRESSED", "GZIP"),):
    fastparquet.write("refused-codecs.parquet", pd.DataFrame({"twice": rng.normal(size=4)}), compression=kept)
    fastparquet.write("refused-codecs.parquet", pd.DataFrame({"twice": rng.normal(size=4)}), compression=added, append=True)

# lists of one length, and pictures with the names of their classes
grid, label = 7 * np.arange(30).reshape(5, 2, 3), [0, 1, 2, 0, 1]
pq.write_table(pa.table({"x": grid.tolist(), "label": label}), "lists-pyarrow.parquet", data_page_version="2.0", compression="zstd", row_group_size=3, store_schema=False)
pl.DataFrame({"x": grid, "label": label}).write_parquet("lists-polars.parquet", statistics=False)
duckdb.sql("copy (select unnest($a)::utinyint[3][2] as x, unnest($b) as label) to 'lists-duckdb.parquet'", params={"a": grid.tolist(), "b": label})
datasets.Dataset.from_dict({"image": [PIL.Image.fromarray(x.astype("u1")) for x in grid], "label": label}, features=datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["tea", "ale", "gin"])})).to_parquet("pictures-datasets.parquet")

#!/usr/bin/env python3
"""Writes data files with other programs, reads them with package dataset, and compares every value.

    internal/formats/formats.py READER FOLDER

READER is the test program of dataset/parquet. A file must be read as the values that were written, or be refused with a
line of Python, which this script then runs: the file that it writes must be read as those values. The script prints a table
by writer and exits with 1 if a file is read otherwise.
"""
import csv, importlib.metadata, io, json, os, shutil, subprocess, sys

import arff, datasets, duckdb, fastparquet, h5py, numpy, pandas, PIL.Image, polars, pretty_midi, pyarrow, scipy, sklearn.datasets, xarray
import pyarrow.csv, pyarrow.feather, pyarrow.ipc, pyarrow.orc, pyarrow.parquet, scipy.io, scipy.sparse

reader, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
datasets.disable_progress_bars()
rng, n = numpy.random.default_rng(1), 40
label = numpy.arange(n) % 3
table = pandas.DataFrame({"height": rng.normal(170, 9, n).round(2), "weight": rng.normal(70, 9, n), "visits": rng.integers(0, 30, n), "city": [["Bonn", "Köln", "Ulm, Neu", "Ürz"][i] for i in rng.integers(0, 4, n)], "member": [["no", "yes"][i] for i in rng.integers(0, 2, n)], "label": label})
numbers = table[["height", "weight", "visits"]]
bits = rng.integers(0, 2, (n, 12))
pictures = rng.integers(0, 256, (n, 6, 5)).astype("u1")
flat = pictures.reshape(n, -1)
colours = rng.integers(0, 256, (n, 6, 5, 3)).astype("u1")
grey = numpy.array([numpy.asarray(PIL.Image.fromarray(c).convert("L")) for c in colours]).reshape(n, -1)
names = ["T-shirt", "Hose", "Ärmel"]
one_hot = pandas.concat([numbers, pandas.get_dummies(pandas.Series(names)[label].reset_index(drop=True))], axis=1)
gaps = table.astype({"visits": "Int64"}).mask(rng.random(table.shape) < 0.1).assign(label=label)
arrow, frame = pyarrow.Table.from_pandas(table), polars.from_pandas(table)
notes = rng.random((30, 5)) < 0.3

def hub(features, **columns):
    return datasets.Dataset.from_dict(columns, features=datasets.Features(features))

def midi(path):
    """Writes notes of a quarter of a second, the keys 60 to 64."""
    song, voice = pretty_midi.PrettyMIDI(), pretty_midi.Instrument(0)
    for step, key in numpy.argwhere(notes):
        voice.notes.append(pretty_midi.Note(100, 60 + int(key), step / 4, (step + 1) / 4))
    song.instruments.append(voice)
    song.write(path)

def stream(kind, **options):
    def write(path):
        with kind(path, arrow.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as w:
            w.write_table(arrow)
    return write

def weka(path):
    words = {"city": ["Bonn", "Köln", "Ulm, Neu", "Ürz"], "member": ["no", "yes"]}
    with open(path, "w") as f:
        arff.dump({"relation": "people", "attributes": [(c, words.get(c, "REAL")) for c in table], "data": table.values.tolist()}, f)

def r(line):
    """Runs a line of R, where t is the table."""
    def write(path):
        table.to_csv("t.csv", index=False)
        subprocess.run(["Rscript", "-e", f't <- read.csv("t.csv"); ' + line.replace("FILE", f'"{path}"')], check=True)
    return write

CSV, NPY, mode = "rows.csv", "rows.npy", {"Shape": "6x5"}
# the program, the file, what writes it, its values, settings, and the remedy with the file that it writes if the file is refused
CASES = [
    ("pandas", "a.csv", lambda p: table.to_csv(p, index=False), table),
    ("pandas", "index.csv", table.to_csv, table),
    ("pandas", "comma.csv", lambda p: table.to_csv(p, index=False, sep=";", decimal=","), table),
    ("pandas", "tabs.tsv.gz", lambda p: table.to_csv(p, index=False, sep="\t"), table),
    ("pandas", "quoted.csv", lambda p: table.to_csv(p, index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n", encoding="utf-8-sig"), table),
    ("pandas", "gaps.csv", lambda p: gaps.to_csv(p, index=False), gaps, {"Gaps": True}),
    ("pandas", "one-hot.csv", lambda p: one_hot.to_csv(p, index=False), one_hot),
    ("pandas", "one-hot.parquet", one_hot.to_parquet, one_hot),
    ("pandas", "records.json", lambda p: table.to_json(p, orient="records"), table),
    ("pandas", "lines.jsonl", lambda p: table.to_json(p, orient="records", lines=True), table),
    ("pandas", "columns.json", table.to_json, table),
    ("pandas", "split.json", lambda p: table.to_json(p, orient="split"), table, {}, 'pandas.read_json(FILE, orient=ORIENT).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "index.json", lambda p: table.to_json(p, orient="index"), table, {}, 'pandas.read_json(FILE, orient=ORIENT).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "table.json", lambda p: table.to_json(p, orient="table"), table, {}, 'pandas.read_json(FILE, orient=ORIENT).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "values.json", lambda p: numbers.to_json(p, orient="values"), numbers.set_axis(list("123"), axis=1), {}, 'numpy.save("rows.npy", numpy.array(json.load(open(FILE))))', NPY),
    ("pandas", "a.parquet", lambda p: table.to_parquet(p), table),
    ("pandas", "gaps.parquet", lambda p: gaps.to_parquet(p), gaps, {"Gaps": True}),
    ("pandas", "categories.parquet", lambda p: table.astype({"city": "category"}).set_index("weight", drop=False).rename_axis("i").to_parquet(p, index=False), table),
    ("pandas", "a.xlsx", lambda p: table.to_excel(p, index=False), table, {}, 'pandas.read_excel(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "a.pkl", table.to_pickle, table, {}, 'pandas.read_pickle(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "a.dta", lambda p: table.to_stata(p, write_index=False, version=118), table, {}, 'pandas.read_stata(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pandas", "a.hdf", lambda p: table.to_hdf(p, key="t"), table, {}, 'pandas.read_hdf(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pyarrow", "snappy.parquet", lambda p: pyarrow.parquet.write_table(arrow, p), table),
    ("pyarrow", "zstd.parquet", lambda p: pyarrow.parquet.write_table(arrow, p, compression="zstd", data_page_version="2.0"), table),
    ("pyarrow", "lz4.parquet", lambda p: pyarrow.parquet.write_table(arrow, p, compression="lz4"), table, {}, 'pandas.read_parquet(FILE).to_parquet("rows.parquet")', "rows.parquet"),
    ("pyarrow", "lists.parquet", lambda p: pyarrow.parquet.write_table(pyarrow.table({"x": flat.tolist(), "label": label}), p), (flat, label), mode),
    ("pyarrow", "fixed-size-lists.parquet", lambda p: pyarrow.parquet.write_table(pyarrow.table({"x": pyarrow.FixedSizeListArray.from_arrays(flat.ravel(), 30), "label": label}), p, data_page_version="2.0", compression="gzip", row_group_size=13), (flat, label), mode),
    ("pyarrow", "lists-of-lists.parquet", lambda p: pyarrow.parquet.write_table(pyarrow.table({"x": pictures.tolist(), "label": label}), p, use_dictionary=False), (flat, label), mode),
    ("pyarrow", "struct.parquet", lambda p: pyarrow.parquet.write_table(pyarrow.table({"s": table[["height", "city"]].to_dict("records"), "label": label}), p), table[["height", "city", "label"]].set_axis(["s.height", "s.city", "label"], axis=1), {}, 'pandas.json_normalize(pandas.read_parquet(FILE).to_dict("records")).to_csv("rows.csv", index=False)', CSV),
    ("pyarrow", "a.feather", lambda p: pyarrow.feather.write_feather(arrow, p), table, {}, 'pandas.read_feather(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pyarrow", "a.arrow", stream(pyarrow.ipc.new_file), table, {}, 'pandas.read_feather(FILE).to_csv("rows.csv", index=False)', CSV),
    ("pyarrow", "lz4.arrows", stream(pyarrow.ipc.new_stream, compression="lz4"), table, {}, 'pyarrow.ipc.open_stream(FILE).read_pandas().to_csv("rows.csv", index=False)', CSV),
    ("pyarrow", "a.orc", lambda p: pyarrow.orc.write_table(arrow, p), table, {}, 'pandas.read_orc(FILE).to_csv("rows.csv", index=False)', CSV),
    ("polars", "a.parquet", lambda p: frame.write_parquet(p), table),
    ("polars", "arrays.parquet", lambda p: polars.DataFrame({"x": pictures, "label": label}).write_parquet(p), (flat, label), mode),
    ("polars", "a.ndjson", lambda p: frame.write_ndjson(p), table),
    ("polars", "a.ipc", lambda p: frame.write_ipc(p, compression="lz4"), table, {}, 'pandas.read_feather(FILE).to_csv("rows.csv", index=False)', CSV),
    ("polars", "a.avro", lambda p: frame.write_avro(p), table, {}, 'polars.read_avro(FILE).write_csv("rows.csv")', CSV),
    ("fastparquet", "gzip.parquet", lambda p: fastparquet.write(p, table.astype({"city": "category"}), compression="GZIP", row_group_offsets=11), table),
    ("duckdb", "a.parquet", lambda p: duckdb.sql(f"copy arrow to '{p}'"), table),
    ("duckdb", "arrays.parquet", lambda p: duckdb.sql(f"copy (select a::utinyint[30] as x, b as label from (select unnest($a) as a, unnest($b) as b)) to '{p}'", params={"a": flat.tolist(), "b": label.tolist()}), (flat, label), mode),
    ("duckdb", "a.json", lambda p: duckdb.sql(f"copy arrow to '{p}'"), table),
    ("numpy", "pictures.npy", lambda p: numpy.save(p, pictures), (flat, None)),
    ("numpy", "big-endian.npy", lambda p: numpy.save(p, numpy.asfortranarray(numbers.to_numpy().astype(">f4"))), (numbers.to_numpy(), None)),
    ("numpy", "record.npy", lambda p: numpy.save(p, numbers.to_records(index=False)), numbers, {}, 'pandas.DataFrame(numpy.load(FILE)).to_csv("rows.csv", index=False)', CSV),
    ("numpy", "one-hot.npz", lambda p: numpy.savez(p, x_train=pictures, y_train=numpy.eye(3)[label]), (flat, label), {}, 'numpy.savez("rows.npz", **{k: v.argmax(1) if k in ["y_train"] else v for k, v in numpy.load(FILE).items()})', "rows.npz"),
    ("numpy", "labelled.npz", lambda p: numpy.savez_compressed(p, x=pictures, y=label), (flat, label)),
    ("numpy", "a.txt", lambda p: numpy.savetxt(p, numbers), (numbers.to_numpy(), None)),
    ("scipy", "sparse.npz", lambda p: scipy.sparse.save_npz(p, scipy.sparse.csr_array(bits)), (bits, None), {}, 'numpy.save("rows.npy", scipy.sparse.load_npz(FILE).toarray())', NPY),
    ("scipy", "a.mat", lambda p: scipy.io.savemat(p, {"x": bits, "y": label}, do_compression=True), (bits, label)),
    ("scipy", "sparse.mat", lambda p: scipy.io.savemat(p, {"x": scipy.sparse.csc_array(bits)}), (bits, None), {}, 'numpy.save("rows.npy", scipy.io.loadmat(FILE)["x"].toarray())', NPY),
    ("scipy", "version4.mat", lambda p: scipy.io.savemat(p, {"x": flat}, format="4"), (flat, None), {}, 'scipy.io.savemat("rows.mat", scipy.io.loadmat(FILE))', "rows.mat"),
    ("scipy", "a.mtx", lambda p: scipy.io.mmwrite(p, scipy.sparse.coo_array(bits)), (bits, None), {}, 'numpy.save("rows.npy", scipy.io.mmread(FILE, spmatrix=False).toarray())', NPY),
    ("scikit-learn", "a.svm", lambda p: sklearn.datasets.dump_svmlight_file(bits, label, p, zero_based=False), (bits, label), {}, 'x, y = sklearn.datasets.load_svmlight_file(FILE, n_features=N, zero_based=False); numpy.savez("rows.npz", x=x.toarray(), y=numpy.unique(y, return_inverse=True)[1])', "rows.npz"),
    ("scikit-learn", "from-zero.svm", lambda p: sklearn.datasets.dump_svmlight_file(numbers.to_numpy(), label, p), (numbers.to_numpy(), label), {}, 'x, y = sklearn.datasets.load_svmlight_file(FILE, n_features=N, zero_based=True); numpy.savez("rows.npz", x=x.toarray(), y=numpy.unique(y, return_inverse=True)[1])', "rows.npz"),
    ("h5py", "a.h5", lambda p: h5py.File(p, "w").create_dataset("x", data=numbers.to_numpy()).file.close(), (numbers.to_numpy(), None), {}, 'numpy.save("rows.npy", h5py.File(FILE)[NAME][:])', NPY),
    ("xarray", "a.nc", lambda p: numbers.rename_axis("row").to_xarray().to_netcdf(p, engine="scipy"), numbers, {}, 'xarray.open_dataset(FILE).to_dataframe().to_csv("rows.csv")', CSV),
    ("liac-arff", "a.arff", weka, table, {}, 't = arff.load(open(FILE)); pandas.DataFrame(t["data"], columns=[a for a, _ in t["attributes"]]).to_csv("rows.csv", index=False)', CSV),
    ("pretty_midi", "a.mid", midi, notes, {}, 'json.dump({"keys": [0, 127], "train": [[numpy.flatnonzero(step).tolist() for step in pretty_midi.PrettyMIDI(file).get_piano_roll(fs=4).T] for file in FILES]}, open("rows.json", "w"))', "rows.json"),
    ("datasets", "pictures.parquet", lambda p: hub({"image": datasets.Image(), "label": datasets.ClassLabel(names=names)}, image=[PIL.Image.fromarray(x) for x in pictures], label=label.tolist()).to_parquet(p), (flat, label, names)),
    ("datasets", "colours.parquet", lambda p: hub({"image": datasets.Image(), "label": datasets.ClassLabel(names=names)}, image=[PIL.Image.fromarray(x) for x in colours], label=label.tolist()).to_parquet(p), (grey, label), mode, 't = pandas.read_parquet(FILE); t["image"] = [numpy.asarray(PIL.Image.open(io.BytesIO(x["bytes"] if isinstance(x, dict) else x)).convert("L")).ravel() for x in t["image"]]; t.to_parquet("rows.parquet")', "rows.parquet"),
    ("datasets", "Array2D.parquet", lambda p: hub({"x": datasets.Array2D((6, 5), "uint8"), "label": datasets.Value("int64")}, x=pictures.tolist(), label=label.tolist()).to_parquet(p), (flat, label), mode),
    ("datasets", "lists.jsonl", lambda p: hub({"x": datasets.List(datasets.List(datasets.Value("int64"))), "label": datasets.Value("int64")}, x=pictures.tolist(), label=label.tolist()).to_json(p), (flat, label), mode, 'pandas.read_json(FILE, lines=True).to_parquet("rows.parquet")', "rows.parquet"),
    ("datasets", "save_to_disk", lambda p: datasets.Dataset.from_pandas(table).save_to_disk(p), table, {}, 'datasets.load_from_disk(FILE).to_parquet("rows.parquet")', "rows.parquet"),
    ("R", "csv.csv", r("write.csv(t, FILE, row.names = FALSE)"), table),
    ("R", "spaces.txt", r("write.table(t[1:3], FILE, row.names = FALSE, quote = FALSE)"), numbers),
    ("R", "semicolon.csv", r("write.csv2(t, FILE, row.names = FALSE)"), table),
    ("R", "a.txt", r("write.table(t, FILE)"), table, {}, 'pandas.read_csv(FILE, sep=r"\\s+", dtype=str, keep_default_na=False).to_csv("rows.csv", index=False)', CSV),
    ("R", "tabs.tsv", r('write.table(t, FILE, sep = "\\t", quote = FALSE)'), table, {}, 'pandas.read_csv(FILE, sep="\\t", dtype=str, keep_default_na=False).to_csv("rows.csv", index=False)', CSV),
    ("R", "a.rds", r("saveRDS(t, FILE)"), table, {}, 'write.csv(readRDS(FILE), "rows.csv", row.names = FALSE)', CSV),
]

def compare(got, want):
    """Returns what differs between the values of a file and those that were written, or ""."""
    if want is notes:
        sounds = numpy.zeros((len(notes), 128), bool)
        sounds[:, 60:60 + notes.shape[1]] = notes
        return "" if numpy.array_equal(numpy.array(got["Rows"], float).reshape(3, -1, 128)[0], sounds) else "other notes"
    if isinstance(want, pandas.DataFrame):
        wanted, labels, classes = want.drop(columns="label", errors="ignore"), want.get("label"), None
    else:
        wanted, labels, classes = pandas.DataFrame(want[0]), *want[1:], *[None] * (3 - len(want))
        got["Columns"] = list(range(len(got["Columns"])))
    if list(wanted) != got["Columns"] or len(wanted) != len(got["Rows"]):
        return f"columns {got['Columns']}, {len(got['Rows'])} rows"
    for k, name in enumerate(wanted):
        for r, value in enumerate(wanted[name]):
            field = got["Rows"][r][k]
            if pandas.isna(value):
                same = field == ""
            elif isinstance(value, (str, bool, numpy.bool_)):
                same = field.lower() == str(value).lower()
            else:
                same = field != "" and numpy.float32(field) == numpy.float32(value)
            if not same:
                return f"row {r + 1}, column {name}: {field!r}, not {value!r}"
    if labels is not None and list(labels) != got["Labels"]:
        return f"labels {got['Labels']}"
    return "" if classes is None or got["Classes"] == classes else f"classes {got['Classes']}"

def read(specs):
    json.dump(specs, open("specs.json", "w"))
    subprocess.run([reader, "-test.run", "^TestValues$"], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"HELMHOLTZ_SPECS": os.path.abspath("specs.json"), "HELMHOLTZ_VALUES": os.path.abspath("values.json"), "HELMHOLTZ_CACHE": "off"})
    return json.load(open("values.json"))

if not shutil.which("Rscript"):
    print("Rscript is not there: its files are left out")
    CASES = [case for case in CASES if case[0] != "R"]
outcomes, specs = {}, []
for k, (program, file, write, _, *settings) in enumerate(CASES):
    os.makedirs(f"{k}", exist_ok=True)
    write(f"{k}/{file}")
    specs.append({"Name": f"{k}/{file}", "binarization": "real", "validation": 0, **(settings[0] if settings else {})})
for k, got in enumerate(read(specs)):
    program, file, _, want, *rest = CASES[k]
    remedy = dict(enumerate(rest)).get(1)
    if remedy is None:
        outcome = got["Error"] or compare(got, want) or "right"
    elif not got["Error"]:
        outcome = "read, not refused " + compare(got, want)
    elif remedy not in got["Error"]:
        outcome = "another remedy: " + got["Error"]
    else:
        line = remedy.replace("FILES", repr([f"{k}/{file}"] * 3)).replace("FILE", repr(f"{k}/{file}")).replace("n_features=N", f"n_features={12 if file == 'a.svm' else 3}").replace("NAME", '"x"').replace("ORIENT", repr(file.split(".")[0]))
        subprocess.run(["Rscript", "-e", line], check=True) if "readRDS" in line else exec(line)
        again, = read([{**specs[k], "Name": rest[2]}])
        outcome = again["Error"] or compare(again, want) or "refused"
        os.remove(rest[2])
    outcomes.setdefault(program, {"right": [], "refused": []}).setdefault(outcome, []).append(file)
print("| program | read | refused |\n| --- | --- | --- |")
for program, of in outcomes.items():
    version = subprocess.run(["Rscript", "--version"], capture_output=True, text=True).stdout.split()[3] if program == "R" else importlib.metadata.version(program)
    print(f"| {program} {version} | {', '.join(of.pop('right'))} | {', '.join(of.pop('refused'))} |")
wrong = [f"{program} {files[0]}: {outcome}" for program, of in outcomes.items() for outcome, files in of.items()]
sys.exit("\n".join(wrong) or 0)

"""Writes small data files, as other programs write them, into a folder."""
import csv, gzip, io, json, os, pickle, struct, sys, zipfile
import numpy as np, pandas as pd, pyarrow as pa, pyarrow.parquet as pq
from PIL import Image
from scipy.io import savemat

out = sys.argv[1]; os.makedirs(out, exist_ok=True); os.chdir(out)
rng = np.random.default_rng(1)
n, h, w = 6, 2, 2
X = rng.integers(0, 256, (n, h, w), dtype=np.uint8); X[0, 0, 0], X[0, 0, 1] = 255, 0
B = (X > 127).astype(np.uint8)
y = np.arange(n) % 3
F = X.reshape(n, -1); BF = B.reshape(n, -1); G = F / 255
R = (G - G.mean(0)) / G.std(0)
pixels = [f"pixel{i}" for i in range(h * w)]
def text(name, s, enc="utf-8"): open(name, "w", encoding=enc, newline="").write(s)

# text
pd.DataFrame(np.c_[y, F], columns=["label"] + pixels).to_csv("01-kaggle-digits.csv", index=False)
pd.DataFrame(BF, columns=pixels).to_csv("02-pandas-bits-header.csv", index=False)
pd.DataFrame(BF).to_csv("03-pandas-default-index.csv")
pd.DataFrame(G, columns=pixels).to_csv("04-pandas-01.csv", index=False)
pd.DataFrame(R, columns=pixels).to_csv("05-pandas-standardised.csv", index=False)
pd.DataFrame(np.c_[F, y], columns=pixels + ["class"]).to_csv("06-pandas.tsv", index=False, sep="\t")
pd.DataFrame(R, columns=pixels).to_csv("07-semicolon-decimal-comma.csv", index=False, sep=";", decimal=",")
pd.DataFrame(BF, columns=pixels).to_csv("08-quoted.csv", index=False, quoting=csv.QUOTE_ALL)
np.savetxt("09-numpy-savetxt.txt", G)
np.savetxt("10-numpy-savetxt-comma.csv", F, fmt="%d", delimiter=",", header="pixels of digits")
pd.DataFrame(BF).to_csv("11-pandas-gzip.csv.gz", index=False, header=False)
pd.DataFrame(F, columns=pixels).to_csv("12-excel-utf16.txt", index=False, sep="\t", encoding="utf-16")
pd.DataFrame(F, columns=pixels).to_csv("13-bom.csv", index=False, encoding="utf-8-sig")
nan = pd.DataFrame(R, columns=pixels); nan.iloc[4, 2] = np.nan; nan.to_csv("14-missing.csv", index=False)
mixed = pd.DataFrame({"age": rng.integers(18, 80, n), "sex": rng.choice(["f", "m"], n), "job": rng.choice(["clerk", "nurse", "smith, black"], n), "married": rng.choice([True, False], n), "income": rng.normal(3000, 500, n).round(2)})
mixed.to_csv("15-mixed-table.csv", index=False)
text("17-weka.arff", "@relation digits\n" + "".join(f"@attribute {p} numeric\n" for p in pixels) + "@data\n" + "\n".join(",".join(map(str, r)) for r in F) + "\n")
# NumPy
np.save("18-float64.npy", R); np.save("19-int64.npy", F.astype(np.int64)); np.save("20-fortran.npy", np.asfortranarray(G.astype(np.float32)))
np.save("21-nchw.npy", (X[:, None] / 255).astype(np.float32)); np.save("22-float16.npy", G.astype(np.float16)); np.save("23-bool.npy", B.astype(bool))
np.save("24-mnist-floats-255.npy", F.astype(np.float64))
np.savez("25-keras.npz", x_train=X[:4], y_train=y[:4], x_test=X[4:], y_test=y[4:]); np.savez_compressed("26-one.npz", B)
np.save("27-objects.npy", np.array([["a", None]], dtype=object), allow_pickle=True)
# MATLAB
savemat("28-matlab.mat", {"train_data": BF[:4], "train_labels": y[:4, None] + 1, "test_data": BF[4:], "test_labels": y[4:, None] + 1, "classnames": np.array(["a", "b", "c"], dtype=object)}, do_compression=True)
savemat("29-matlab-images.mat", {"images": X.transpose(1, 2, 0).astype(float), "labels": y}); savemat("30-matlab4.mat", {"X": R}, format="4")
savemat("42-matlab-structure.mat", {"s": {"x": BF, "y": y}}, do_compression=True); savemat("43-matlab-cell.mat", {"c": np.array([[BF[0].astype(float)], [BF[1].astype(float)]], dtype=object)})
# IDX
def idx(name, a, code, dt): open(name, "wb").write(struct.pack(">HBB", 0, code, a.ndim) + struct.pack(f">{a.ndim}I", *a.shape) + a.astype(dt).tobytes())
idx("31-emnist-images-idx3-ubyte", X.transpose(0, 2, 1), 8, "u1"); idx("32-floats-idx3-float", G.reshape(n, h, w), 13, ">f4")
idx("33-qmnist-labels-idx2-int", np.c_[y, np.zeros((n, 7), int)], 12, ">i4")
# pictures
for i in range(n):
    d = f"34-png-folders/{'abc'[y[i]]}"; os.makedirs(d, exist_ok=True); Image.fromarray(X[i]).save(f"{d}/{i:02}.png")
    d = f"35-jpeg-folders/{'train' if i < 4 else 'test'}/{'abc'[y[i]]}"; os.makedirs(d, exist_ok=True); Image.fromarray(np.kron(B[i] * 255, np.ones((4, 4), np.uint8))).save(f"{d}/{i:02}.jpg", quality=95)
# columns and containers

pq.write_table(pa.table({"label": y, **{p: F[:, i] for i, p in enumerate(pixels)}}), "36-pyarrow.parquet", compression="none", write_statistics=False, store_schema=False)
plain = open("31-emnist-images-idx3-ubyte", "rb").read(); open("40-gzip-in-gzip.gz", "wb").write(gzip.compress(gzip.compress(plain)))
pickle.dump(X, open("41-pickle.pkl", "wb"))

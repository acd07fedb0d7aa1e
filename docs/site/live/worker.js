// Runs the Go program of cmd/live beside the page, which stays responsive. A message {id, name, argument}
// is answered by {id, result} or {id, error}. While the program loads, {step} says what it is doing.
importScripts("wasm_exec.js");

const unpacked = async (what, file) => {
  self.postMessage({ step: `Loading ${what}` });
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  const all = Number(response.headers.get("Content-Length"));
  let loaded = 0;
  const count = new TransformStream({
    transform(chunk, controller) {
      if (Math.floor(2e-6 * loaded) < Math.floor(2e-6 * (loaded += chunk.length))) // every half of a megabyte
        self.postMessage({ step: `Loading ${what}, ${megabytes(loaded)}${all ? ` of ${megabytes(all)}` : ""} MB` });
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count).pipeThrough(new DecompressionStream("gzip")));
};

const begun = (async () => {
  const go = new Go();
  const ready = new Promise((resolve) => { self.helmholtzReady = resolve; });
  const bytes = await (await unpacked("the program", "live.wasm.gz")).arrayBuffer();
  self.postMessage({ step: "Starting the program" });
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
  go.run(instance);
  await ready;
  const model = await (await unpacked("the machine", "model.safetensors.gz")).arrayBuffer();
  return JSON.parse(await self.helmholtzLoad(new Uint8Array(model)));
})();

self.onmessage = async ({ data: { id, name, argument } }) => {
  try {
    const shape = await begun;
    const result = name === "shape" ? shape : JSON.parse(await self.helmholtzCall(name, JSON.stringify(argument)));
    self.postMessage({ id, result });
  } catch (error) {
    self.postMessage({ id, error: String(error.message || error) });
  }
};

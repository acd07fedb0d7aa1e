// Runs the Go program of internal/live beside the page, which stays responsive. A message {id, name, argument}
// is answered by {id, result} or {id, error}.
importScripts("wasm_exec.js");

const unpacked = async (file) =>
  new Response((await fetch(file)).body.pipeThrough(new DecompressionStream("gzip")));

const begun = (async () => {
  const go = new Go();
  const ready = new Promise((resolve) => { self.helmholtzReady = resolve; });
  const bytes = await (await unpacked("live.wasm.gz")).arrayBuffer();
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject);
  go.run(instance);
  await ready;
  const model = await (await unpacked("model.safetensors.gz")).arrayBuffer();
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

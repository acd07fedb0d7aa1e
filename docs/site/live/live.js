// The live page: controls and drawings. All numbers come from the Go program in worker.js.
(() => {
  const root = document.getElementById("live");
  const base = document.currentScript.src.replace(/live\.js.*$/, "");
  const get = (name) => root.querySelector(`[data-live="${name}"]`);
  const status = get("status");
  const waitFor = (step) => { status.textContent = `The controls are off until the page can compute. ${step} …`; };
  const fail = (error) => { status.textContent = `The page cannot compute: ${error.message || error}`; };
  if (!window.Worker || !window.WebAssembly || !window.DecompressionStream || location.protocol === "file:") {
    fail(location.protocol === "file:"
      ? "browsers start no programs from files. Serve the folder, for example with python3 -m http.server"
      : "this browser lacks WebAssembly, workers or DecompressionStream");
    return;
  }

  let worker;
  try { worker = new Worker(`${base}worker.js`); } catch (error) { fail(error); return; }
  const waiting = new Map();
  let calls = 0;
  worker.onerror = (event) => fail(event);
  worker.onmessage = ({ data: { id, result, error, step } }) => {
    if (step) { waitFor(step); return; }
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error)); else resolve(result);
  };
  const call = (name, argument = {}) => new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    worker.postMessage({ id: calls, name, argument });
  });

  // draw paints an image, or hides its pixels where hidden.
  const draw = (canvas, image, width, hidden) => {
    const context = canvas.getContext("2d");
    canvas.width = width;
    canvas.height = image.length / width;
    const pixels = context.createImageData(canvas.width, canvas.height);
    image.forEach((value, i) => {
      const grey = Math.round(255 * value);
      pixels.data.set(hidden && hidden[i] ? [74, 111, 165, 255] : [grey, grey, grey, 255], 4 * i);
    });
    context.putImageData(pixels, 0, 0);
  };
  const canvases = (parent, n, label) => {
    parent.replaceChildren();
    return Array.from({ length: n }, (_, i) => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${label} ${i + 1}`);
      parent.append(canvas);
      return canvas;
    });
  };
  const seconds = (since) => ((performance.now() - since) / 1000).toFixed(2);

  const dreams = (shape) => {
    const tiles = canvases(get("dreams"), 20, "dream");
    const held = new Map();
    let seed = 1, busy = false, again = false;
    const show = async () => {
      if (busy) { again = true; return; }
      busy = true;
      const list = [...held].map(([key, on]) => { const [layer, unit] = key.split(",").map(Number); return { layer, unit, on }; });
      const images = await call("dream", { seed, images: tiles.length, held: list });
      images.forEach((image, i) => draw(tiles[i], image, shape.width));
      get("held").textContent = list.length ? `Held: ${list.map((h) => `unit ${h.unit} of layer ${h.layer} ${h.on ? "on" : "off"}`).join(", ")}.` : "No unit is held.";
      busy = false;
      if (again) { again = false; show().catch(fail); }
    };
    const units = get("units");
    const list = () => {
      const layer = Number(get("layer").value);
      units.replaceChildren();
      for (let unit = 0; unit < shape.hidden[layer - 1]; unit++) {
        const button = document.createElement("button");
        const key = `${layer},${unit}`;
        const name = () => {
          const state = held.has(key) ? (held.get(key) ? "on" : "off") : "free";
          button.className = `live-unit live-${state}`;
          button.setAttribute("aria-label", `unit ${unit} of layer ${layer}: ${state}`);
          button.title = `unit ${unit}: ${state}`;
        };
        button.type = "button";
        button.onclick = () => {
          if (!held.has(key)) held.set(key, true); else if (held.get(key)) held.set(key, false); else held.delete(key);
          name();
          show().catch(fail);
        };
        name();
        units.append(button);
      }
    };
    shape.hidden.forEach((n, i) => get("layer").add(new Option(`layer ${i + 1}, ${n} units`, i + 1, i === 0, i === 0)));
    get("layer").onchange = list;
    get("release").onclick = () => { held.clear(); list(); show().catch(fail); };
    get("again").onclick = () => { seed++; show().catch(fail); };
    list();
    return show();
  };

  const filling = (shape) => {
    const [given] = canvases(get("given"), 1, "given pixels");
    const chains = canvases(get("chains"), 4, "chain");
    let row = 0, run = 0;
    const masks = {
      left: (x) => x < shape.width / 2,
      right: (x) => x >= shape.width / 2,
      upper: (x, y) => y < shape.height / 2,
      lower: (x, y) => y >= shape.height / 2,
    };
    const show = async () => {
      const mine = ++run;
      const covers = masks[get("mask").value];
      const hidden = Array.from({ length: shape.width * shape.height }, (_, i) => covers(i % shape.width, Math.floor(i / shape.width)));
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      for (const sweeps of still ? [30] : [1, 2, 3, 4, 6, 8, 11, 15, 20, 30]) {
        const filled = await call("fill", { row, hidden, sweeps, chains: chains.length, seed: 1 });
        if (mine !== run) return;
        draw(given, filled.image, shape.width, hidden);
        filled.chains.forEach((image, i) => draw(chains[i], image, shape.width));
        get("sweeps").textContent = `After ${sweeps} ${sweeps === 1 ? "sweep" : "sweeps"}.`;
      }
    };
    get("mask").onchange = () => show().catch(fail);
    get("another").onclick = () => { row = (row + 1) % shape.rows; show().catch(fail); };
    return show();
  };

  const race = () => {
    let history = { rws: [], nrws: [] }, run = 0;
    const canvas = get("race");
    const plot = () => {
      const context = canvas.getContext("2d"), scale = window.devicePixelRatio || 1;
      const width = canvas.clientWidth, height = canvas.clientHeight;
      canvas.width = width * scale;
      canvas.height = height * scale;
      context.scale(scale, scale);
      const style = getComputedStyle(root), ink = style.color;
      context.font = "12px sans-serif";
      context.fillStyle = context.strokeStyle = ink;
      const epochs = Math.max(20, ...Object.values(history).map((h) => h.length - 1));
      const top = 5, low = 0.01;
      const x = (epoch) => 48 + (width - 60) * epoch / epochs;
      const y = (kl) => 10 + (height - 30) * (Math.log(top) - Math.log(Math.min(top, Math.max(low, kl)))) / (Math.log(top) - Math.log(low));
      for (const kl of [0.01, 0.03, 0.1, 0.3, 1, 3]) {
        context.globalAlpha = 0.2;
        context.beginPath(); context.moveTo(x(0), y(kl)); context.lineTo(x(epochs), y(kl)); context.stroke();
        context.globalAlpha = 1;
        context.textAlign = "right"; context.fillText(kl, 42, y(kl) + 4);
      }
      context.textAlign = "center";
      for (let epoch = 0; epoch <= epochs; epoch += Math.ceil(epochs / 5)) context.fillText(epoch, x(epoch), height - 4);
      for (const [preset, all] of Object.entries(history)) {
        context.strokeStyle = context.fillStyle = style.getPropertyValue(`--${preset}`);
        context.beginPath();
        all.forEach((d, epoch) => context.lineTo(x(epoch), y(d.exact)));
        context.lineWidth = 2; context.stroke(); context.lineWidth = 1;
        all.forEach((d, epoch) => { context.beginPath(); context.arc(x(epoch), y(d.estimate), 2, 0, 7); context.fill(); });
      }
    };
    const text = () => {
      const of = (preset) => { const d = history[preset].at(-1); return d ? `${preset.toUpperCase()} ${d.exact.toFixed(4)} (estimate ${d.estimate.toFixed(4)})` : ""; };
      get("kl").textContent = `Epoch ${history.rws.length - 1}: KL in nats: ${of("rws")}, ${of("nrws")}.`;
    };
    const add = (divergences) => { for (const preset in history) history[preset].push(divergences[preset]); plot(); text(); };
    const rate = (name) => 10 ** Number(get(name).value);
    const rates = () => { for (const name of ["rws", "nrws"]) get(`${name}-rate`).textContent = rate(name).toPrecision(2); };
    get("rws").oninput = get("nrws").oninput = rates;
    rates();
    const start = async () => {
      const mine = ++run, began = performance.now();
      get("stop").disabled = false;
      history = { rws: [], nrws: [] };
      const first = await call("begin", { rates: { rws: rate("rws"), nrws: rate("nrws") } });
      if (mine !== run) return;
      add(first);
      for (let epoch = 1; epoch <= 100; epoch++) {
        const d = await call("epoch");
        if (mine !== run) return;
        add(d);
      }
      get("kl").textContent += ` 100 epochs of both took ${seconds(began)} s.`;
      get("stop").disabled = true;
    };
    get("start").onclick = () => start().catch(fail);
    get("stop").onclick = () => { run++; get("stop").disabled = true; };
    window.addEventListener("resize", plot);
    plot();
  };

  const began = performance.now();
  waitFor("Loading the program");
  call("shape").then(async (shape) => {
    waitFor("Drawing the first dreams");
    await dreams(shape);
    if (get("given")) await filling(shape); // the start page has the dreams alone
    if (get("race")) race();
    get("controls").disabled = false;
    status.textContent = `Everything on this page is computed in your browser. It was ready after ${seconds(began)} s.`;
  }).catch(fail);
})();

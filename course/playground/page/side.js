// One model: its worker, and what is known about it.
const mostFrames = 80;
const mostWeights = 6e6; // of all frames

export class Side {
  constructor(label) {
    this.label = label;
    this.waiting = new Map();
    this.count = 0;
    this.start();
  }

  start() {
    this.worker?.terminate();
    this.waiting.forEach(({ reject }) => reject(new Error("stopped")));
    this.waiting.clear();
    const source = new Blob([document.getElementById("worker").textContent], {
      type: "text/javascript",
    });
    const url = URL.createObjectURL(source);
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    };
    this.worker.onerror = (event) => {
      this.waiting.forEach(({ reject }) =>
        reject(new Error(event.message || "this browser cannot run the module")),
      );
      this.waiting.clear();
    };
    this.losses = [];
    this.history = []; // {step, scores, heads} of every step that was measured
    this.frames = []; // the steps whose weights the worker has
    this.summary = null;
  }

  stop() {
    this.worker.terminate();
    this.waiting.clear();
  }

  call(name, ...args) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, name, args });
    });
  }

  async make(toml, mistake = "") {
    const summary = await this.call("make", toml, mistake);
    Object.assign(this, { summary, losses: [], history: [], frames: [] });
    await this.frame();
  }

  get step() {
    return this.losses.length;
  }

  async train(count) {
    this.losses.push(...(await this.call("train", count)));
  }

  // Measures this step and keeps its weights. Of too many frames every other one goes, but not the
  // first.
  async frame() {
    if (this.frames.at(-1) === this.step) return;
    const { step } = this;
    const began = performance.now();
    const measured = await this.call("frame", step);
    this.frameMs = performance.now() - began;
    this.history.push({ step, ...measured });
    this.frames.push(step);
    const room = Math.floor(mostWeights / this.summary.parameter_count);
    if (this.frames.length <= Math.max(10, Math.min(mostFrames, room))) return;
    const last = this.frames.length - 1;
    const dropped = this.frames.filter((_, i) => i % 2 === 1 && i < last);
    this.frames = this.frames.filter((each) => !dropped.includes(each));
    await this.call("drop", dropped);
  }
}

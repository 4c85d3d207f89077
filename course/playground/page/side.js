// One model: its worker, and what is known about it.
class Side {
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
    const source = new Blob([document.getElementById("worker").textContent], { type: "text/javascript" });
    const url = URL.createObjectURL(source);
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) resolve(result); else reject(new Error(error));
    };
    this.worker.onerror = (event) => {
      this.waiting.forEach(({ reject }) => reject(new Error(event.message || "this browser cannot run the module")));
      this.waiting.clear();
    };
    this.losses = [];
    this.frames = [];  // {step, scores}
    this.summary = null;
  }

  stop() {
    this.worker.terminate();
    this.waiting.clear();
  }

  get busy() { return this.waiting.size > 0; }

  call(name, ...args) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, name, args });
    });
  }

  async make(toml, mistake = "") {
    const summary = await this.call("make", toml, mistake);
    Object.assign(this, { summary, losses: [], frames: [] });
    await this.frame();
  }

  get step() { return this.losses.length; }

  async train(count) {
    this.losses.push(...await this.call("train", count));
  }

  // Keeps the weights of this step. Of too many frames every other one goes, but not the first.
  async frame() {
    if (this.frames.at(-1)?.step === this.step) return;
    const scores = await this.call("frame", this.step);
    this.frames.push({ step: this.step, scores });
    const most = Math.max(10, Math.min(80, Math.floor(6e6 / this.summary.parameter_count)));
    if (this.frames.length <= most) return;
    const dropped = this.frames.filter((_, i) => i % 2 === 1 && i + 1 < this.frames.length).map((frame) => frame.step);
    this.frames = this.frames.filter((frame) => !dropped.includes(frame.step));
    await this.call("drop", dropped);
  }
}

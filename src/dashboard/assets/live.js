// What the server tells, as it comes: server-sent events, read by fetch because the token goes in a header.

const silence = 30_000;  // the server says something every ten seconds
const pauses = [500, 1000, 2000, 5000];

export class Feed {
  // `tell` gets each message, `state` gets "live", "lost" or "refused".
  constructor(path, token, tell, state) {
    Object.assign(this, { path, token, tell, state, stopped: false, failures: 0 });
    this.run();
  }

  stop() {
    this.stopped = true;
    this.request?.abort();
  }

  async run() {
    while (!this.stopped) {
      let refused = false;
      try {
        refused = await this.read();
      } catch {
        // Told below: a connection that broke and one that ended are the same to whoever looks.
      }
      if (this.stopped) return;
      this.state(refused ? "refused" : "lost");
      if (refused) return;
      const pause = pauses[Math.min(this.failures++, pauses.length - 1)];
      await new Promise(resolve => setTimeout(resolve, pause));
    }
  }

  // True if the token is not taken.
  async read() {
    this.request = new AbortController();
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(this.path, { headers, signal: this.request.signal, cache: "no-store" });
    if (answer.status === 401) return true;
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await this.inTime(reader.read());
      if (done || this.stopped) return false;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) this.take(event);
    }
  }

  take(event) {
    this.failures = 0;
    if (event.startsWith("data: ")) this.tell(JSON.parse(event.slice("data: ".length)));
    this.state("live");
  }

  async inTime(reading) {
    const timer = setTimeout(() => this.request.abort(), silence);
    try {
      return await reading;
    } finally {
      clearTimeout(timer);
    }
  }
}

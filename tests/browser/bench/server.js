// The development server with one made-up run in it: everything else is asked of the real app. Answers the window that
// was built for measuring, and pages that are empty but for their references.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { extname, join } from "node:path";
import { runId } from "./events.js";

const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml" };

/** A server in front of the app at `behind`, whose run is `run`. */
export class Served {
  constructor(behind, built, run) {
    Object.assign(this, { behind, built, run });
    this.listeners = new Set();
    this.server = createServer((request, response) => void this.answer(request, response).catch(() => response.destroy()));
  }

  async open() {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Tells every window how far the run reaches. */
  tell() {
    const signal = JSON.stringify({ kind: "advanced", runId, seq: this.run.events.length });
    for (const listener of this.listeners) listener.write(`data: ${signal}\n\n`);
  }

  async answer(request, response) {
    const { pathname } = new URL(request.url, this.url);
    const json = (value) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (pathname === "/empty") {
      response.writeHead(200, { "content-type": "text/html" });
      return response.end("<!doctype html><title>Empty</title><body style='margin: 0'></body>");
    }
    if (pathname === "/signals") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      this.listeners.add(response);
      response.on("close", () => this.listeners.delete(response));
      return undefined;
    }
    if (pathname.startsWith("/ipc/")) {
      let body = "";
      for await (const part of request) body += part;
      const asked = JSON.parse(body || "null");
      if (asked?.runId === runId) {
        const own = {
          run_get: () => this.run.summary,
          run_events: () => ({ events: this.run.events.slice(asked.fromSeq - 1, asked.fromSeq - 1 + asked.limit) }),
          run_deltas: () => [],
          run_waits: () => ({ waits: [] }),
          run_estimate: () => null,
        }[pathname.slice("/ipc/".length)];
        if (own) return json(own());
      }
      const reply = await fetch(`${this.behind}${pathname}`, { method: "POST", headers: { "content-type": "application/json" }, body });
      response.writeHead(reply.status, { "content-type": "application/json" });
      return response.end(await reply.text());
    }
    const file = join(this.built, pathname === "/" ? "bench.html" : pathname);
    const bytes = await readFile(file).catch(() => null);
    response.writeHead(bytes ? 200 : 404, { "content-type": kinds[extname(file)] ?? "application/octet-stream" });
    return response.end(bytes ?? "");
  }
}

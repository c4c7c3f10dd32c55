// A server on loopback that takes what exporters and clients send, and answers as theirs would; its model says a few words.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const WORDS = 20;

const server = createServer((request, response) => {
  let lines = 1;
  request.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  });
  request.on("end", () => {
    if (request.url === "/v1/chat/completions") return speak(response);
    const entries = Array.from({ length: lines }, (_, at) => ({ id: String(at), position: at }));
    const answer = request.url === "/entries" ? { status: "recorded", entries } : {};
    response.writeHead(request.url === "/entries" ? 201 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
});

/** As providers stream: each word an event of its own, the first at once. */
function speak(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let word = 0; word < WORDS; word += 1) {
    const choices = [{ index: 0, delta: { content: `word ${word} ` }, finish_reason: null }];
    response.write(`data: ${JSON.stringify({ id: "chatcmpl-1", model: "m-1", choices })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

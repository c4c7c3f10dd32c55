// JSON answers are compressed for those who ask, and are the same document.
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { serverOfFile } from "./http-client.js";

const server = serverOfFile();

beforeAll(() =>
  server().recorder.append(
    Array.from({ length: 60 }, (_, nth) => ({ kind: "error", session_id: `s-${nth}`, error: "boom" }) as const),
  ),
);

interface Got {
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
  readonly length: number;
  readonly body: Buffer;
}

function get(path: string, accepted?: string): Promise<Got> {
  const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
  return new Promise((resolve, reject) => {
    request(new URL(path, server().address), { headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          encoding: response.headers["content-encoding"],
          vary: response.headers.vary,
          length: Number(response.headers["content-length"]),
          body: Buffer.concat(parts),
        }),
      );
    })
      .on("error", reject)
      .end();
  });
}

test.each([
  ["br", "br", brotliDecompressSync],
  ["gzip", "gzip", gunzipSync],
  ["gzip, deflate, br", "br", brotliDecompressSync],
  ["br;q=0, gzip", "gzip", gunzipSync],
] as const)("Accept-Encoding %s gives %s", async (accepted, encoding, decode) => {
  const plain = await get("/sessions");
  expect(plain).toMatchObject({ encoding: undefined, vary: "Accept-Encoding", length: plain.body.length });
  const small = await get("/sessions", accepted);
  expect(small).toMatchObject({ encoding, vary: "Accept-Encoding", length: small.body.length });
  expect(small.length).toBeLessThan(plain.length / 4);
  expect(decode(small.body).toString()).toBe(plain.body.toString());
});

test("small answers, exports and what nobody asked for stay as they are", async () => {
  expect((await get("/ready", "br")).encoding).toBeUndefined();
  expect((await get("/export", "br")).encoding).toBeUndefined();
  expect((await get("/sessions", "identity, br;q=0, gzip;q=0")).encoding).toBeUndefined();
});

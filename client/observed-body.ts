// A body that is looked at while it passes: each piece goes on as soon as it is there, and none sooner than it is asked for.

export interface BodyWatch {
  onPiece(piece: Uint8Array): void;
  /** At the end, of which only the first word counts: whole, broken by an error, or given up by whoever read it. */
  onEnd(broken: string | undefined): void;
}

export function observeBody(body: ReadableStream<Uint8Array>, watch: BodyWatch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  // Whoever aborts a call need not read on to the error, and the call has ended all the same.
  reader.closed?.catch((error: unknown) => watch.onEnd(reasonOf(error)));
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const piece = await nextPiece(reader);
        if (piece === undefined) {
          controller.close();
          controller.byobRequest?.respond(0);
          watch.onEnd(undefined);
          return;
        }
        watch.onPiece(piece);
        // A copy, since a stream of bytes takes the memory of what it is given, and whoever made the piece may still use it.
        controller.enqueue(new Uint8Array(piece));
      } catch (error) {
        watch.onEnd(reasonOf(error));
        throw error;
      }
    },
    async cancel(reason) {
      watch.onEnd(`aborted: ${reasonOf(reason)}`);
      await reader.cancel(reason);
    },
  });
}

/** Undefined at the end. A stream may have pieces without a byte, and one of bytes may not. */
async function nextPiece(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (value.length > 0) return value;
  }
}

export function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return error === undefined ? "no longer wanted" : String(error);
}

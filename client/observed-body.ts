// A body that is looked at while it passes: each piece goes on as soon as it is there, and none sooner than it is asked for.

export interface BodyWatch {
  onPiece(piece: Uint8Array): void;
  /** Once, at the end: whole, broken by an error, or given up by whoever read it. */
  onEnd(broken: string | undefined): void;
}

export function observeBody(body: ReadableStream<Uint8Array>, watch: BodyWatch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          controller.byobRequest?.respond(0);
          watch.onEnd(undefined);
          return;
        }
        // First looked at, since whoever takes it on may take its memory too.
        watch.onPiece(value);
        controller.enqueue(value as Uint8Array<ArrayBuffer>);
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

export function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return error === undefined ? "no longer wanted" : String(error);
}

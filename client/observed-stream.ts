// A stream that is looked at while it passes: each piece goes on as soon as it is there, and none sooner than it is asked for.

import { abortedBy, type Broken, brokenBy } from "./broken-call.js";

export interface StreamWatch<P> {
  onPiece(piece: P): void;
  /** At the end, once: complete, broken by an error, or cancelled by the reader. The end is passed on when it resolves. */
  onEnd(broken: Broken | undefined): Promise<void> | void;
}

export function observeStream<P>(stream: ReadableStream<P>, watch: StreamWatch<P>): ReadableStream<P> {
  return new ReadableStream<P>(
    sourceOf<P, ReadableStreamDefaultController<P>>(stream, watch, {
      isPiece: () => true,
      pass: (controller, piece) => controller.enqueue(piece),
      close: (controller) => controller.close(),
    }),
  );
}

/** A stream of bytes, such as an answer's body is. */
export function observeBody(
  body: ReadableStream<Uint8Array>,
  watch: StreamWatch<Uint8Array>,
): ReadableStream<Uint8Array> {
  const source = sourceOf<Uint8Array, ReadableByteStreamController>(body, watch, {
    // A stream may have pieces without a byte, and one of bytes may not.
    isPiece: (piece) => piece.length > 0,
    // A copy: a byte stream takes over the memory of a chunk, and its producer may still use it.
    pass: (controller, piece) => controller.enqueue(new Uint8Array(piece)),
    close: (controller) => {
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
  return new ReadableStream({ type: "bytes", ...source });
}

interface Way<P, C> {
  isPiece(piece: P): boolean;
  pass(controller: C, piece: P): void;
  close(controller: C): void;
}

function sourceOf<P, C>(stream: ReadableStream<P>, watch: StreamWatch<P>, way: Way<P, C>) {
  const reader = stream.getReader();
  // A caller that aborts may not read on to the error, but the call has ended.
  reader.closed?.catch((error: unknown) => watch.onEnd(brokenBy(error)));
  const next = async () => {
    for (;;) {
      const read = await reader.read();
      if (read.done || way.isPiece(read.value)) return read;
    }
  };
  return {
    async pull(controller: C): Promise<void> {
      try {
        const { done, value } = await next();
        if (done) {
          await watch.onEnd(undefined);
          way.close(controller);
          return;
        }
        watch.onPiece(value);
        way.pass(controller, value);
      } catch (error) {
        await watch.onEnd(brokenBy(error));
        throw error;
      }
    },
    async cancel(reason: unknown): Promise<void> {
      void watch.onEnd(abortedBy(reason));
      await reader.cancel(reason);
    },
  };
}

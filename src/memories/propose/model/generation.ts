// What made a model's proposals: another model, prompt or way of cutting sessions is another generation.
import { createHash } from "node:crypto";
import { SEGMENTATION } from "./segments.js";

const CHARS = 16;

export function generationOf({ model, prompt }: { readonly model: string; readonly prompt: string }): string {
  return createHash("sha256")
    .update(JSON.stringify([model, prompt, SEGMENTATION]))
    .digest("hex")
    .slice(0, CHARS);
}

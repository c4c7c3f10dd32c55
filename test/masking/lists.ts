// The lists that the mask is measured by, and what it has to reach on each.
import { harmlessTexts } from "./harmless-texts.js";
import { heldOutHarmless, heldOutSecrets } from "./held-out.js";
import type { Sample } from "./sample.js";
import { secretPlaces } from "./secret-places.js";
import { secretTokens } from "./secret-tokens.js";

export const SHARE_MIN = 0.95;

export const lists: readonly (readonly [name: string, samples: readonly Sample[]])[] = [
  ["labelled", [...secretTokens, ...secretPlaces, ...harmlessTexts]],
  ["made by program", [...heldOutSecrets, ...heldOutHarmless]],
];

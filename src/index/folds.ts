// Every fold there is: what the index keeps documents of.

import { callFold } from "./call-fold.js";
import { feedbackFold } from "./feedback-fold.js";
import type { Fold } from "./fold.js";
import { memoryFold } from "./memory-fold.js";
import { sessionFold } from "./session-fold.js";

export const folds: readonly Fold[] = [sessionFold, feedbackFold, callFold, memoryFold];

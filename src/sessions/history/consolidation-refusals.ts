// Why a consolidation is refused, in words for whoever asked for it.
import { type Rejection, reject } from "../../model/rejection.js";

export function throughInvalid(): Rejection {
  return reject({
    code: "field_invalid",
    field: "through",
    message: "through must be a position (a whole number from 1)",
  });
}

export function throughElsewhere(through: number): Rejection {
  return reject({
    code: "field_invalid",
    field: "through",
    message: `position ${through} is not in this session`,
    hint: "Give the position of one of its entries.",
  });
}

export function consolidatedFurther(present: number): Rejection {
  return reject({
    code: "consolidation_backwards",
    field: "through",
    message: `the session is consolidated through ${present} already`,
  });
}

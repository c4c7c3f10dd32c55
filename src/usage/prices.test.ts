// What calls cost: by what each provider's counts include, by size, by date, and by a file of one's own.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { calcPrice } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { folderOfFile } from "../../test/support/temporary-folder.js";
import { Rejection } from "../model/rejection.js";
import type { ModelCall } from "./call-merger.js";
import { pricesOfFile, readPriceFile } from "./price-file.js";
import { costOf, knownPrices, type Rates } from "./price-table.js";

const rates: Rates = { input: 10, output: 100, cache_read: 1, cache_write: 20 };
const tokens = [1_000_000, 100_000, 400_000, 100_000, 50_000];

function call(fields: Partial<ModelCall>): ModelCall {
  return {
    position: 1,
    created_ms: 0,
    session_id: "",
    project: "",
    client: "",
    user: "",
    model: "m",
    tokens,
    ...fields,
  };
}

describe("cost", () => {
  test.each<[string, Partial<ModelCall>, number]>([
    ["OpenAI's input holds what came from the cache", { counting: "openai" }, 5 + 0.4 + 2 + 10],
    ["Anthropic's does not", { counting: "anthropic" }, 10 + 0.4 + 2 + 10],
    ["Gemini's does, but thoughts are not part of its output", { counting: "gemini" }, 5 + 0.4 + 2 + 15],
    ["by the model's name", { model: "claude-x" }, 10 + 0.4 + 2 + 10],
    ["by the program that counted", { model: "gpt-x", client: "pi" }, 10 + 0.4 + 2 + 10],
    ["both apart", { client: "opencode" }, 10 + 0.4 + 2 + 15],
    ["a part is never more than the whole", { tokens: [1_000_000, 0, 2_000_000, 0, 0] }, 10 + 2],
  ])("%s", (_, fields, expected) => {
    expect(costOf(call(fields), rates)).toBeCloseTo(expected, 9);
  });

  test("a large context costs more from its first token on, and rates that are not given are those of input", () => {
    const tiered: Rates = { input: { base: 1, tiers: [{ start: 200_000, price: 2 }] }, output: 0 };
    const input = (count: number, cached = 0): ModelCall =>
      call({ counting: "anthropic", tokens: [count, 0, cached, 0, 0] });
    expect(costOf(input(200_000), tiered)).toBeCloseTo(0.2, 9);
    expect(costOf(input(200_001), tiered)).toBeCloseTo(0.400002, 9);
    expect(costOf(input(100_000, 200_000), tiered)).toBeCloseTo(0.6, 9);
  });
});

describe("the prices that come with the program", () => {
  test("are those of the library, at the time of the call", async () => {
    const prices = await knownPrices();
    for (const model of ["claude-sonnet-4-5-20250929", "claude-opus-4-6", "gpt-5", "gemini-2.5-pro", "deepseek-chat"]) {
      for (const at of ["2026-01-05T10:00:00Z", "2026-01-05T20:00:00Z", "2026-06-01T00:00:00Z"]) {
        for (const input of [1_000, 250_000]) {
          const usage = { input_tokens: input, cache_read_tokens: 300, output_tokens: 77 };
          const expected = calcPrice(usage, model, { timestamp: new Date(at) })?.total_price;
          const found = prices.ratesOf(model, Date.parse(at)) as Rates;
          const cost = costOf(call({ model, counting: "openai", tokens: [input, 77, 300, 0, 0] }), found);
          expect(cost).toBeCloseTo(expected as number, 12);
        }
      }
    }
  });

  test("are found by the names that servers of models give them, and not for names that are none", async () => {
    const prices = await knownPrices();
    for (const model of [
      ...["anthropic/claude-sonnet-4", "us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-20250514[1m]"],
      "openrouter/anthropic/claude-sonnet-4",
    ]) {
      expect([model, prices.ratesOf(model, 0)]).toMatchObject([model, { input: 3, output: 15 }]);
    }
    for (const model of ["", "/", "nobody/nothing", "__proto__", "m", "\ud800"]) {
      expect(prices.ratesOf(model, 0)).toBeUndefined();
    }
  });
});

describe("a file of prices", () => {
  const folder = folderOfFile();
  const written = (text: string): string => {
    const path = join(folder, "prices.json");
    writeFileSync(path, text);
    return path;
  };

  test("has dollars for each token, and more above so many of them", async () => {
    const file = await readPriceFile(
      written(
        JSON.stringify({
          sample_spec: { input_cost_per_token: "explained here" },
          "acme/big": {
            input_cost_per_token: 1e-6,
            output_cost_per_token: 2e-6,
            cache_read_input_token_cost: null,
            input_cost_per_token_above_200k_tokens: 4e-6,
            input_cost_per_token_batches: "half",
          },
          painter: { output_cost_per_image: 0.04, mode: "image_generation" },
        }),
      ),
    );
    if (file instanceof Rejection) throw new Error(file.message);
    const prices = pricesOfFile(file);
    expect(prices.from).toEqual({ source: "prices.json", date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
    for (const model of ["acme/big", "big", "other/big", "big[1m]"]) {
      expect(prices.ratesOf(model, 0)).toEqual({
        input: { base: 1, tiers: [{ start: 200_000, price: 4 }] },
        output: 2,
      });
    }
    expect(prices.ratesOf("painter", 0)).toBeUndefined();
    expect(prices.ratesOf("gpt-5", 0)).toBeUndefined();
  });

  test.each([
    ["no JSON", "{", /is not JSON/],
    ["no object", "[]", /is not an object of models/],
    ["nothing in it", "{}", /contains no token price/],
    ["a model without prices", '{"m": 3}', /no object of prices for "m"/],
    ["a price that is none", '{"m": {"input_cost_per_token": "1e-6"}}', /"1e-6" as input_cost_per_token of "m"/],
    ["a price below nought", '{"m": {"output_cost_per_token": -1}}', /"-1" as output_cost_per_token of "m"/],
  ])("with %s is refused", async (_, text, message) => {
    const refused = await readPriceFile(written(text));
    expect(refused).toBeInstanceOf(Rejection);
    expect(refused).toMatchObject({ code: "field_invalid", field: "prices", message: expect.stringMatching(message) });
  });

  test("that is not there, or is a folder, is refused", async () => {
    for (const path of [join(folder, "none.json"), folder, "", 7]) {
      expect(await readPriceFile(path)).toMatchObject({ code: "field_invalid", field: "prices" });
    }
  });
});

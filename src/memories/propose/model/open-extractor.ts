// Which driver serves what the user configured.
import type { Extractor, ExtractorSettings } from "../extractor.js";
import { CommandExtractor } from "./command.js";
import { Endpoint } from "./endpoint.js";

export function openExtractor(settings: ExtractorSettings): Extractor {
  return "via" in settings ? new CommandExtractor(settings) : new Endpoint(settings);
}

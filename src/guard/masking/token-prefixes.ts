// Tokens that are told by a prefix: the prefixes that stand for one service each, and what follows them.
import { joint, shapeOf, type TokenRule } from "./token-shape.js";

type PrefixRow = readonly [rule: string, anchors: readonly string[], rest: string, left?: "anywhere" | "joint"];

const prefixed: readonly PrefixRow[] = [
  ["github_token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{20,}"],
  ["hansard_key", ["hansard_"], String.raw`[0-9a-f]{16}_[\w-]{20,}`],
  ["github_token", ["github_pat_"], String.raw`\w{20,}`, "anywhere"],
  ["gitlab_token", ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-"], String.raw`[\w.-]{16,}`, "anywhere"],
  ["gitlab_token", ["glsoat-"], String.raw`[\w.-]{16,}`, "anywhere"],
  ["gitlab_token", ["glagent-", "glimt-", "gloas-", "glffct-", "GR1348941"], String.raw`[\w-]{16,}`, "anywhere"],
  ["slack_token", ["xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-"], String.raw`[\w-]{10,}`, "anywhere"],
  ["slack_token", ["xoxp-", "xoxr-", "xoxs-"], String.raw`[\w-]{10,}`, "anywhere"],
  // A cookie, so it is often percent-encoded.
  ["slack_token", ["xoxd-"], String.raw`(?:[\w+/=-]|%2[BFbf]|%3[Dd]){20,}`, "anywhere"],
  ["slack_token", ["xoxe.xox"], String.raw`[bp]-[\w-]{10,}`, "anywhere"],
  ["slack_token", ["xapp-"], String.raw`\d-[\w-]{16,}`],
  ["stripe_key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_"], String.raw`\w{10,}`],
  ["stripe_webhook_secret", ["whsec_"], "[A-Za-z0-9+/=]{24,}"],
  ["anthropic_key", ["sk-ant-"], String.raw`[\w-]{16,}`],
  ["google_api_key", ["AIza"], String.raw`[\w-]{30,}`],
  ["google_oauth_token", ["ya29."], String.raw`[\w.-]{20,}`],
  ["google_client_secret", ["GOCSPX-"], String.raw`[\w-]{20,}`],
  ["npm_token", ["npm_"], "[A-Za-z0-9]{36,}"],
  ["pypi_token", ["pypi-"], String.raw`[\w-]{50,}`],
  ["sendgrid_key", ["SG."], String.raw`[\w-]{16,32}\.[\w-]{16,64}`],
  ["hugging_face_token", ["hf_", "api_org_"], "[A-Za-z0-9]{30,}"],
  ["shopify_token", ["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], "[A-Fa-f0-9]{32,}"],
  ["digitalocean_token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{40,}"],
  ["docker_token", ["dckr_pat_", "dckr_oat_"], String.raw`[\w-]{20,}`],
  ["databricks_token", ["dapi"], "[a-f0-9]{32}"],
  ["linear_key", ["lin_api_", "lin_oauth_"], "[A-Za-z0-9]{32,}"],
  ["onepassword_token", ["ops_eyJ"], String.raw`[\w+/=-]{100,}`],
  ["vault_token", ["hvs.", "hvb.", "hvr."], String.raw`[\w-]{24,}`],
  ["grafana_token", ["glsa_", "glc_eyJ"], String.raw`[\w+/=-]{24,}`],
  ["atlassian_token", ["ATATT3", "ATCTT3", "ATBB"], String.raw`[\w=-]{24,}`],
  ["groq_key", ["gsk_"], "[A-Za-z0-9]{40,}"],
  ["xai_key", ["xai-"], String.raw`\w{40,}`],
  ["perplexity_key", ["pplx-"], "[A-Za-z0-9]{32,}"],
  ["replicate_token", ["r8_"], "[A-Za-z0-9]{32,}"],
  ["nvidia_key", ["nvapi-"], String.raw`[\w-]{40,}`],
  ["langsmith_key", ["lsv2_pt_", "lsv2_sk_"], String.raw`\w{32,}`],
  ["supabase_key", ["sbp_", "sb_secret_"], String.raw`[\w-]{20,}`],
  ["notion_token", ["ntn_"], "[A-Za-z0-9]{40,}"],
  ["figma_token", ["figd_", "figo_"], String.raw`[\w-]{30,}`],
  ["pulumi_token", ["pul-"], "[a-f0-9]{40}"],
  ["postman_key", ["PMAK-"], "[a-f0-9]{24}-[a-f0-9]{34}"],
  ["new_relic_key", ["NRAK-"], "[A-Z0-9]{24,}"],
  ["rubygems_key", ["rubygems_"], "[a-f0-9]{40,}"],
  ["sentry_token", ["sntrys_", "sntryu_"], String.raw`[\w+/=-]{40,}`],
  ["planetscale_token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], String.raw`[\w.=-]{30,}`],
  ["age_key", ["AGE-SECRET-KEY-1"], "[A-Z0-9]{50,}"],
  ["alibaba_key", ["LTAI"], "[A-Za-z0-9]{16,}"],
  ["fly_token", ["fo1_", "fm1_", "fm2_"], String.raw`[\w+/=,-]{40,}`],
  ["square_token", ["sq0atp-", "sq0csp-"], String.raw`[\w-]{20,}`],
  ["dynatrace_token", ["dt0c01.", "dt0s01.", "dt0s02."], String.raw`[A-Z0-9]{20,24}\.[A-Z0-9]{32,}`],
  ["airtable_token", ["pat"], String.raw`[A-Za-z0-9]{14}\.[a-f0-9]{64}`],
  ["doppler_token", ["dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "[A-Za-z0-9]{36,}"],
  // The name of what it is for may stand between.
  ["doppler_token", ["dp.st."], String.raw`(?:[\w-]{2,35}\.)?[A-Za-z0-9]{36,}`],
  ["circleci_token", ["CCIPAT_", "CCIPRJ_"], String.raw`\w{30,}`],
  ["tailscale_key", ["tskey-"], "(?:[a-z]{2,12}-)?[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,}", "joint"],
  ["brevo_key", ["xkeysib-", "xsmtpsib-"], "[a-f0-9]{40,}(?:-[A-Za-z0-9]{1,32})?"],
  ["heroku_key", ["HRKU-"], String.raw`[\w-]{30,}`],
  ["sourcegraph_token", ["sgp_"], "(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40,}"],
  ["artifactory_key", ["AKCp"], "[A-Za-z0-9]{60,}"],
  ["tavily_key", ["tvly-"], String.raw`[\w-]{24,}`],
  ["pinecone_key", ["pcsk_"], String.raw`\w{40,}`],
  ["cerebras_key", ["csk-"], "[A-Za-z0-9]{40,}"],
];

export const prefixRules: readonly TokenRule[] = prefixed.map(([rule, anchors, rest, left]) => ({
  rule,
  anchors,
  left: (left ?? usualLeft(anchors, rest)) === "joint" ? joint : undefined,
  shape: shapeOf(`(?:${anchors.map(escaped).join("|")})${rest}`),
}));

/** A prefix with a joint of its own and one long word behind it tells enough, also where it is glued to a letter. */
function usualLeft(anchors: readonly string[], rest: string): "anywhere" | "joint" {
  const isTelling = anchors.every((anchor) => anchor.length > 3 && /[_-]$/.test(anchor)) && !rest.includes("w");
  return isTelling ? "anywhere" : "joint";
}

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

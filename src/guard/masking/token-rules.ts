// The tokens that are masked: for each a few literals that it always contains (anchors), and the shape around them.
//
// The shapes are those that services publish for their tokens; a test compares the table with a rule set maintained by
// others. Minimum lengths are below the real ones, since a truncated token is still worth hiding.
import { contextRules } from "./context-rules.js";
import { isStandIn } from "./plausible-values.js";
import { DIGIT, ESCAPE, joint, leftOf, START, shapeOf, type TokenRule } from "./token-shape.js";

/** Between a name and its value: `KEY=`, `key: "`, and the same inside a JSON string. */
const ASSIGNED = String.raw`\\{0,3}["']?\s{0,4}(?:=>|:=|=|:)\s{0,4}\\{0,3}["']?`;
const HEX_DIGITS = "0123456789abcdef";
/** For shapes that are delimited anyway. */
const start = new RegExp(START, "y");

/** Shapes that a prefix alone does not identify. */
const shaped: readonly TokenRule[] = [
  {
    rule: "aws_access_key",
    anchors: ["AKIA", "ASIA", "ABIA", "ACCA"],
    left: leftOf("(?<![A-Z0-9])"),
    shape: shapeOf("[A-Z]{4}[A-Z0-9]{16}(?:(?![A-Z0-9])|(?=A(?:KI|SI|BI|CC)A))"),
  },
  {
    rule: "aws_secret_key",
    anchors: [
      ...["secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey", "secret-access-key"],
      ...["AWS_SECRET_KEY", "aws_secret_key"],
    ],
    shape: shapeOf(`[A-Za-z_-]{8,20}${ASSIGNED}(?<secret>[A-Za-z0-9/+=]{30,128})`),
  },
  {
    rule: "openai_key",
    anchors: ["sk-"],
    left: start,
    shape: shapeOf(
      String.raw`sk-(?:(?:proj|svcacct|admin|None|or|lf|live|test)-${DIGIT}[\w-]{16,}|${DIGIT}[A-Za-z0-9]{16,}[\w-]{0,})`,
    ),
  },
  {
    rule: "json_web_token",
    anchors: ["eyJ"],
    // If something precedes its head, the rest is recognised by itself.
    shape: shapeOf(
      String.raw`${START}(?:eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{0,}){1,4}|(?<=[\w-]{16}\.)eyJ[\w-]{8,}\.[\w-]{32,})`,
    ),
  },
  {
    rule: "twilio_key",
    anchors: [...products("S", "K", HEX_DIGITS), ...products("A", "C", HEX_DIGITS)],
    left: joint,
    shape: shapeOf("[A-Z]{2}[0-9a-f]{32}(?:(?![A-Za-z0-9])|(?=(?:SK|AC)[0-9a-f]{32}))"),
  },
  {
    rule: "telegram_token",
    anchors: [":AA", "%3AAA", "%3aAA", "%253AAA", "%253aAA"],
    shape: shapeOf(
      String.raw`(?<=(?:(?<!\d)|${ESCAPE})\d{8,10})(?::|%(?:25)?3[Aa])(?<secret>AA[\w-]{32,34})(?![A-Za-z0-9])`,
    ),
  },
  {
    // It begins with a number in base64.
    rule: "discord_token",
    anchors: products("MNO", "DTjz", "AEIMQUYcgk"),
    left: start,
    shape: shapeOf(String.raw`[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])`),
  },
  {
    // A whole word, not part of base64, where these three letters are not rare.
    rule: "facebook_token",
    anchors: ["EAA"],
    shape: shapeOf(String.raw`(?:(?<![\w+/-])|${ESCAPE})EAA[A-Za-z0-9]{60,}(?![\w+/=-])`),
  },
  {
    rule: "mailgun_key",
    anchors: ["key-"],
    left: leftOf(String.raw`(?<![\w-])`),
    shape: shapeOf("key-[0-9a-f]{32}(?![0-9a-f_-])"),
  },
  {
    rule: "terraform_token",
    anchors: [".atlasv1."],
    back: 14,
    left: joint,
    shape: shapeOf(String.raw`[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}`),
  },
  {
    rule: "notion_token",
    anchors: ["secret_"],
    left: joint,
    shape: shapeOf(`secret_${DIGIT}[A-Za-z0-9]{43}(?:(?![A-Za-z0-9])|(?=secret_))`),
  },
  {
    rule: "elevenlabs_key",
    anchors: ["sk_"],
    left: joint,
    shape: shapeOf("sk_[0-9a-f]{48}(?![0-9a-f])"),
  },
  {
    rule: "discord_webhook",
    anchors: ["/api/webhooks/"],
    shape: shapeOf(String.raw`/api/webhooks/\d{15,22}/(?<secret>[\w-]{40,})`),
  },
  {
    rule: "slack_webhook",
    anchors: ["hooks.slack.com/"],
    shape: shapeOf(String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/(?<secret>[\w/-]{20,})`),
  },
  {
    rule: "azure_client_secret",
    anchors: products("0123456789", "Q", "~"),
    back: 3,
    left: leftOf(String.raw`(?<![\w~.-])`),
    shape: shapeOf(String.raw`[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])`),
  },
  {
    rule: "azure_storage_key",
    anchors: ["AccountKey=", "SharedAccessKey="],
    shape: shapeOf(String.raw`\w{10,20}=(?<secret>[A-Za-z0-9+/]{40,}={0,2})`),
  },
  {
    rule: "azure_sas_signature",
    anchors: ["sig="],
    shape: shapeOf("(?<=[?&;])sig=(?<secret>[A-Za-z0-9%+/=]{40,})"),
  },
  {
    rule: "npm_token",
    anchors: ["_authToken="],
    shape: shapeOf(String.raw`_authToken=["']?(?<secret>[\w+/=-]{20,})`),
  },
  {
    // Near its end, such a key without a prefix has the vendor's mark.
    rule: "azure_devops_token",
    anchors: ["AZDO"],
    back: 76,
    left: joint,
    shape: shapeOf("[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
  },
  {
    rule: "new_relic_key",
    anchors: ["NRAL"],
    back: 36,
    left: joint,
    shape: shapeOf("[0-9a-f]{36}NRAL(?![A-Za-z0-9])"),
  },
  {
    rule: "mailchimp_key",
    anchors: ["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
    back: 32,
    left: joint,
    shape: shapeOf(String.raw`[0-9a-f]{32}-us\d{1,2}(?![\w-])`),
  },
  {
    rule: "google_refresh_token",
    anchors: ["1//0"],
    left: leftOf(String.raw`(?<![\w:/.])`),
    shape: shapeOf(String.raw`1//0[\w-]{40,}`),
  },
  {
    rule: "firebase_key",
    anchors: [":APA91b"],
    back: 11,
    left: joint,
    shape: shapeOf(String.raw`[\w-]{11}:APA91b[\w-]{100,}`),
  },
  {
    rule: "teams_webhook",
    anchors: ["/IncomingWebhook/"],
    shape: shapeOf(String.raw`/IncomingWebhook/(?<secret>[0-9a-f]{32}/[\w-]{36}[\w/-]{0,64})`),
  },
  {
    rule: "paypal_token",
    anchors: ["access_token$"],
    shape: shapeOf(String.raw`access_token\$\w{4,12}\$[0-9a-z]{16}\$[0-9a-f]{32}`),
  },
];

/** Tokens that a prefix alone identifies: each prefix belongs to one service. */
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
  ["databricks_token", ["dapi"], "[a-f0-9]{32}(?:-[0-9](?![0-9]))?"],
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
  // The name of its purpose may come in between.
  ["doppler_token", ["dp.st."], String.raw`(?:[\w-]{2,35}\.)?[A-Za-z0-9]{36,}`],
  ["circleci_token", ["CCIPAT_", "CCIPRJ_"], String.raw`\w{30,}`],
  ["tailscale_key", ["tskey-"], "(?:[a-z]{2,12}-)?[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,}", "joint"],
  ["brevo_key", ["xkeysib-", "xsmtpsib-"], "[a-f0-9]{40,}(?:-[A-Za-z0-9]{1,32})?"],
  ["heroku_key", ["HRKU-"], String.raw`[\w-]{30,}`],
  ["sourcegraph_token", ["sgp_"], "(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40,}"],
  ["artifactory_key", ["AKCp"], "[A-Za-z0-9]{60,}"],
  ["tavily_key", ["tvly-"], String.raw`[\w-]{24,}`],
  ["pinecone_key", ["pcsk_"], String.raw`\w{40,}`],
  ["aws_bedrock_key", ["ABSK"], "[A-Za-z0-9+/]{100,}={0,2}"],
  ["google_api_key", ["AQ.Ab8RN6"], String.raw`[\w-]{30,}`],
  ["netlify_token", ["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], "[A-Za-z0-9]{36,}"],
  ["vercel_token", ["vcp_", "vci_", "vca_", "vcr_", "vck_"], "[A-Za-z0-9]{40,}"],
  ["resend_key", ["re_"], "(?=[A-Za-z_]{0,40}[0-9])[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"],
  ["buildkite_token", ["bkua_", "bkaj_", "bkct_", "bkpt_"], "[a-f0-9]{32,}"],
  ["sonar_token", ["squ_", "sqp_", "sqa_"], "[a-f0-9]{40}"],
  ["snyk_token", ["snyk_uat.", "snyk_sat."], String.raw`[a-f0-9]{8}\.[\w.-]{40,}`],
  ["posthog_key", ["phx_"], "[A-Za-z0-9]{40,}"],
  ["launchdarkly_key", ["sdk-", "mob-"], "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"],
  ["hubspot_token", ["pat-na", "pat-eu"], "[0-9]{1,2}-[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["plaid_token", ["access-sandbox-", "access-production-", "access-development-"], "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["square_token", ["EAAA"], String.raw`[\w-]{60}(?![\w+/=-])`],
  ["cloudflare_origin_key", ["v1.0-"], "[a-f0-9]{24}-[a-f0-9]{100,}"],
  ["cloudflare_tunnel_token", ["eyJhIjoi"], String.raw`[\w+/-]{80,}={0,2}`],
  ["grafana_token", ["eyJrIjoi"], String.raw`[\w+/-]{60,}={0,2}`],
  ["artifactory_key", ["cmVmdGtuOjAxO"], "[A-Za-z0-9]{40,}"],
  ["trello_token", ["ATTA"], "[a-f0-9]{64}[A-Za-z0-9]{0,12}"],
  ["clickup_token", ["pk_"], "[0-9]{5,10}_[A-Z0-9]{32}"],
  ["typeform_token", ["tfp_"], String.raw`[\w.=-]{40,}`],
  ["dropbox_token", ["sl.u.", "sl.B", "sl.A"], String.raw`[\w-]{100,}`],
  ["mapbox_token", ["sk.eyJ"], String.raw`[\w-]{40,}\.[\w-]{20,}`],
  ["apify_token", ["apify_api_"], "[A-Za-z0-9]{30,}"],
  ["crates_token", ["cio"], "[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["nuget_key", ["oy2"], "[a-z0-9]{43}(?![A-Za-z0-9])"],
  ["clojars_token", ["CLOJARS_"], "[a-f0-9]{60}"],
  ["contentful_token", ["CFPAT-"], String.raw`[\w-]{40,}`],
  ["duffel_token", ["duffel_test_", "duffel_live_"], String.raw`[\w=-]{40,}`],
  ["easypost_key", ["EZAK", "EZTK"], "[A-Za-z0-9]{54}"],
  ["flutterwave_key", ["FLWSECK_TEST-", "FLWSECK-"], "[A-Za-z0-9]{12,}"],
  ["frameio_token", ["fio-u-"], String.raw`[\w=-]{60,}`],
  ["infracost_key", ["ico-"], "[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["octopus_key", ["API-"], "[A-Z0-9]{26,40}(?![A-Za-z0-9])"],
  ["openshift_token", ["sha256~"], String.raw`[\w-]{43}`],
  ["prefect_key", ["pnu_", "pnb_"], "[A-Za-z0-9]{36}"],
  ["readme_key", ["rdme_"], "[a-z0-9]{60,}"],
  ["settlemint_token", ["sm_aat_", "sm_pat_", "sm_sat_"], "[A-Za-z0-9]{16,}"],
  ["shippo_token", ["shippo_live_", "shippo_test_"], "[a-f0-9]{40}"],
  ["together_key", ["tgp_v1_"], String.raw`[\w-]{40,}`],
  ["fireworks_key", ["fw_"], "(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{22,24}(?![A-Za-z0-9])"],
  ["jina_key", ["jina_"], String.raw`[\w-]{40,}`],
  ["firecrawl_key", ["fc-"], "[a-f0-9]{32}(?![A-Za-z0-9])"],
  ["browserbase_key", ["bb_live_"], String.raw`[\w-]{20,}`],
  ["e2b_key", ["e2b_"], "[a-f0-9]{40}"],
  ["wandb_key", ["wandb_v1_"], String.raw`\w{40,}`],
  ["neon_key", ["napi_"], "[a-z0-9]{60,}"],
  ["render_key", ["rnd_"], "[A-Za-z0-9]{28,}"],
  ["stripe_key", ["sk_prod_", "rk_prod_"], String.raw`\w{10,}`],
  ["honeycomb_key", ["hcaik_", "hcxik_", "hcamk_"], "[A-Za-z0-9]{50,}"],
  ["new_relic_key", ["NRJS-", "NRII-", "NRIQ-", "NRSP-"], String.raw`[\w-]{19,}`],
  ["okta_token", ["SSWS "], String.raw`[\w-]{30,}`],
  ["bitbucket_token", ["ATCTT3", "BBDC-"], String.raw`[\w+=-]{30,}`],
  ["harness_token", ["pat.", "sat."], String.raw`[\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}`],
  ["intra42_secret", ["s-s4t2ud-", "s-s4t2af-"], "[a-f0-9]{64}"],
  ["tencent_key", ["AKID"], "[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["vk_token", ["vk1.a."], String.raw`[\w-]{40,}`],
  ["yandex_token", ["y0_A", "AQVN", "t1.9eu"], String.raw`[\w.=-]{35,}`],
  ["adobe_secret", ["p8e-", "p8e_"], "[A-Za-z0-9]{32}"],
  ["woocommerce_secret", ["cs_"], "[a-f0-9]{40}(?![A-Za-z0-9])"],
  ["paddle_key", ["pdl_live_", "pdl_sdbx_"], String.raw`\w{30,}`],
  ["twitch_token", ["oauth:"], "[a-z0-9]{30}(?![A-Za-z0-9])"],
  ["wallet_key", ["xprv", "yprv", "zprv", "tprv"], "[A-Za-z0-9]{100,}"],
  ["amazon_mws_key", ["amzn.mws."], "[a-f0-9]{8}-[a-f0-9-]{27}"],
  ["google_refresh_token", ["1%2F%2F0", "1%2f%2f0"], String.raw`[\w-]{40,}`],
  ["aws_session_token", ["IQoJb3JpZ2luX2Vj", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], "[A-Za-z0-9+/=%]{60,}"],
  ["scalingo_token", ["tk-us-"], String.raw`[\w-]{48}`],
  ["cerebras_key", ["csk-"], "[A-Za-z0-9]{40,}"],
];

const prefixRules: readonly TokenRule[] = prefixed.map(([rule, anchors, rest, left]) => ({
  rule,
  anchors,
  left: (left ?? usualLeft(anchors, rest)) === "joint" ? joint : undefined,
  accepts: (token) => !isStandIn(token),
  shape: shapeOf(`(?:${anchors.map(escaped).join("|")})${rest}`),
}));

/** A prefix with its own separator and one long word after it is enough, also directly after a letter. */
function usualLeft(anchors: readonly string[], rest: string): "anywhere" | "joint" {
  const isTelling = anchors.every((anchor) => anchor.length > 3 && /[_-]$/.test(anchor)) && !rest.includes("w");
  return isTelling ? "anywhere" : "joint";
}

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

export const tokenRules: readonly TokenRule[] = [...prefixRules, ...shaped, ...contextRules];

/** Every combination of one character from each choice. */
function products(...choices: readonly string[]): readonly string[] {
  const extend = (texts: readonly string[], chars: string): readonly string[] =>
    texts.flatMap((text) => [...chars].map((char) => text + char));
  return choices.reduce<readonly string[]>(extend, [""]);
}

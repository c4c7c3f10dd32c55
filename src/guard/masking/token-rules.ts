// The token shapes that are masked: for each a few literals that it cannot do without, and the shape around them.
//
// The shapes are those that services publish for their tokens. A test holds the table against a rule set that others keep
// up. Minimum lengths lie below the real ones, since a token that was cut short is still worth hiding.

export interface TokenRule {
  /** What the marker says. */
  readonly rule: string;
  /** Literals, one of which every such token contains; where none of them stands, nothing is looked at further. */
  readonly anchors: readonly string[];
  /** How many characters before the literal the shape starts. */
  readonly back?: number;
  /** Told by what stands around it, not by itself: where another rule knows the token too, that one names it. */
  readonly isContextual?: true;
  /**
   * The shape, starting at the anchor. The secret is all of it, or the group `secret`, which stands at its end.
   *
   * It must fail within a bounded number of steps or consume what it looked at: only so is a hostile text scanned in
   * linear time. A long repetition therefore stands at the end, or behind `START`.
   */
  readonly shape: RegExp;
}

/** Longer repetitions are cut here and the rest is taken from the run: the engine's stack does not hold millions. */
export const RUN_CHARS_MAX = 16_384;

/** Escapes of JSON, addresses and terminals end a word although they end with a letter or a digit. */
const ESCAPE = String.raw`(?<=%[0-9A-Fa-f]{2})|(?<=\\(?:[bfnrt]|u[0-9A-Fa-f]{4}))|(?<=\[[0-9;]{0,12}m)`;
/** Not in the middle of a word, though after a joint: `proj-` and `x_` often stand before a token. */
const JOINT = `(?:(?<![A-Za-z0-9])|${ESCAPE})`;
/** The same near the beginning of a run of token characters, for shapes that look at more than they consume. */
const START = String.raw`(?:(?<![\w-])|(?<=(?<![\w-])[\w-]{0,63}[_-])|${ESCAPE})`;
const DIGIT = "(?=[A-Za-z_-]{0,64}[0-9])";
/** Between a name and its value: `KEY=`, `key: "`, and the same inside a JSON string. */
const ASSIGNED = String.raw`\\{0,3}["']?\s{0,4}(?:=>|:=|=|:)\s{0,4}\\{0,3}["']?`;
const ASSIGNABLE = String.raw`[\w!#%&*+/=?@^~-]`;
const HEX_DIGITS = "0123456789abcdef";

/** Prefixes that stand for one service each, and what follows them. */
const prefixed = [
  ["github_token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{20,}"],
  ["hansard_key", ["hansard_"], String.raw`[0-9a-f]{16}_[\w-]{20,}`],
  ["github_token", ["github_pat_"], String.raw`\w{20,}`],
  ["gitlab_token", ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"], String.raw`[\w.-]{16,}`],
  ["gitlab_token", ["glagent-", "glimt-", "gloas-", "glffct-", "GR1348941"], String.raw`[\w-]{16,}`],
  ["slack_token", ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"], String.raw`[\w-]{10,}`],
  ["slack_token", ["xoxe.xox"], String.raw`[bp]-[\w-]{10,}`],
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
] as const satisfies readonly (readonly [rule: string, anchors: readonly string[], rest: string])[];

/** Shapes that a prefix alone does not tell. */
const shaped: readonly TokenRule[] = [
  {
    rule: "aws_access_key",
    anchors: ["AKIA", "ASIA", "ABIA", "ACCA"],
    shape: shapeOf(`${JOINT}[A-Z]{4}[A-Z0-9]{16}(?![A-Za-z0-9])`),
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
    shape: shapeOf(
      String.raw`${START}sk-(?:(?:proj|svcacct|admin|None|or|lf|live|test)-${DIGIT}[\w-]{16,}|${DIGIT}[A-Za-z0-9]{16,}[\w-]{0,})`,
    ),
  },
  {
    rule: "json_web_token",
    anchors: ["eyJ"],
    shape: shapeOf(String.raw`${START}eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{0,}){1,4}`),
  },
  {
    rule: "twilio_key",
    anchors: [...products("S", "K", HEX_DIGITS), ...products("A", "C", HEX_DIGITS)],
    shape: shapeOf(`${JOINT}[A-Z]{2}[0-9a-f]{32}(?![A-Za-z0-9])`),
  },
  {
    rule: "telegram_token",
    anchors: [":AA"],
    shape: shapeOf(String.raw`(?<=(?<!\d)\d{8,10}):(?<secret>AA[\w-]{32,34})(?![\w-])`),
  },
  {
    // It begins with a number in base64.
    rule: "discord_token",
    anchors: products("MNO", "DTjz", "AEIMQUYcgk"),
    shape: shapeOf(String.raw`${START}[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])`),
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
    shape: shapeOf(String.raw`(?:(?<![\w~.-])|(?<=\\[bfnrt]))[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])`),
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
    rule: "url_password",
    isContextual: true,
    anchors: ["://"],
    // An image may be named with its tag and digest.
    shape: shapeOf(
      String.raw`://[^\s/?#@:"'<>\\]{0,128}:(?<secret>(?![$<{[*]|%s)[^\s/?#"'<>\\]{1,256})(?=@(?!sha\d)[\w[])`,
    ),
  },
  {
    rule: "bearer_token",
    isContextual: true,
    anchors: ["earer ", "EARER "],
    shape: shapeOf(String.raw`\w{5}\s{1,4}${DIGIT}(?<secret>[\w.~+/=-]{16,})`),
  },
  {
    rule: "authorization",
    isContextual: true,
    anchors: ["uthorization", "UTHORIZATION"],
    shape: shapeOf(
      String.raw`\w{12}${ASSIGNED}[A-Za-z-]{3,12}\s{1,4}(?=[\w.~+/-]{0,64}(?:[0-9=]|[a-z][A-Z]))(?<secret>[\w.~+/=-]{8,})`,
    ),
  },
  {
    // Names of variables whose values are secrets; the value has letters and digits and stands alone.
    rule: "assigned_secret",
    isContextual: true,
    anchors: ["SECRET", "TOKEN", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "_PASS="],
    shape: shapeOf(
      String.raw`[A-Z_]{5,12}(?:_KEY)?["']?\s?=\s?["']?` +
        "(?=[A-Za-z!#%&*+/=?@^_~-]{0,64}[0-9])(?=[0-9!#%&*+/=?@^_~-]{0,64}[A-Za-z])" +
        String.raw`(?<secret>${ASSIGNABLE}{10,256}(?![\w.([{])|${ASSIGNABLE}{257,})`,
    ),
  },
];

export const tokenRules: readonly TokenRule[] = [
  ...prefixed.map(([rule, anchors, rest]) => ({
    rule,
    anchors,
    shape: shapeOf(`${leftOf(anchors, rest)}(?:${anchors.map(escaped).join("|")})${rest}`),
  })),
  ...shaped,
];

/** A prefix with a joint of its own and one long word behind it tells enough, also where it is glued to a letter. */
function leftOf(anchors: readonly string[], rest: string): string {
  const isTelling = anchors.every((anchor) => anchor.length > 3 && /[_-]$/.test(anchor)) && !rest.includes("w");
  return isTelling ? "" : JOINT;
}

function shapeOf(source: string): RegExp {
  return new RegExp(source.replaceAll(",}", `,${RUN_CHARS_MAX}}`), "y");
}

/** Every text that takes one character from each. */
function products(...choices: readonly string[]): readonly string[] {
  const extend = (texts: readonly string[], chars: string): readonly string[] =>
    texts.flatMap((text) => [...chars].map((char) => text + char));
  return choices.reduce<readonly string[]>(extend, [""]);
}

function escaped(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

// The token shapes that are masked: for each a few literals that it cannot do without, and the shape around them.
//
// The shapes are those that services publish for their tokens. A test holds the table against a rule set that others keep
// up. Minimum lengths lie below the real ones, since a token that was cut short is still worth hiding.
import { prefixRules } from "./token-prefixes.js";
import { DIGIT, ESCAPE, joint, leftOf, START, shapeOf, type TokenRule } from "./token-shape.js";

/** Between a name and its value: `KEY=`, `key: "`, and the same inside a JSON string. */
const ASSIGNED = String.raw`\\{0,3}["']?\s{0,4}(?:=>|:=|=|:)\s{0,4}\\{0,3}["']?`;
const ASSIGNABLE = String.raw`[\w!#%&*+/=?@^~-]`;
const HEX_DIGITS = "0123456789abcdef";
/** For shapes that are bounded anyway. */
const start = new RegExp(START, "y");

/** Shapes that a prefix alone does not tell. */
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
    // Where its head is glued to something else, the rest is known by itself.
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
    // A whole word, and no part of base64, where these three letters are not rare.
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

export const tokenRules: readonly TokenRule[] = [...prefixRules, ...shaped];

/** Every text that takes one character from each. */
function products(...choices: readonly string[]): readonly string[] {
  const extend = (texts: readonly string[], chars: string): readonly string[] =>
    texts.flatMap((text) => [...chars].map((char) => text + char));
  return choices.reduce<readonly string[]>(extend, [""]);
}

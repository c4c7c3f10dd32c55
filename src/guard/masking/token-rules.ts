// The token shapes that are masked: for each a few literals that it cannot do without, and the shape around them.
//
// The shapes are those that services publish for their tokens. A test holds the table against a rule set that others keep
// up. Minimum lengths lie below the real ones, since a token that was cut short is still worth hiding.
import { placeRules } from "./surroundings.js";
import { prefixRules } from "./token-prefixes.js";
import { DIGIT, ESCAPE, joint, leftOf, START, shapeOf, type TokenRule } from "./token-shape.js";

/** Between a name and its value: `KEY=`, `key: "`, and the same inside a JSON string. */
const ASSIGNED = String.raw`\\{0,3}["']?\s{0,4}(?:=>|:=|=|:)\s{0,4}\\{0,3}["']?`;
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
    // A mark of the vendor stands near the end of keys that have no prefix.
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

export const tokenRules: readonly TokenRule[] = [...prefixRules, ...shaped, ...placeRules];

/** Every text that takes one character from each. */
function products(...choices: readonly string[]): readonly string[] {
  const extend = (texts: readonly string[], chars: string): readonly string[] =>
    texts.flatMap((text) => [...chars].map((char) => text + char));
  return choices.reduce<readonly string[]>(extend, [""]);
}

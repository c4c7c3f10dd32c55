// The sentences of users that rules read, as data: each row has a sentence that it finds, and one like it that it must not find. A
// test runs both. A rule sees a sentence, not whether it outlives the task, so the rows are strict.
import type { RuleClass } from "../rule-classes.js";

export interface WordPattern {
  readonly class: RuleClass;
  readonly language: "english" | "german" | "french" | "spanish" | "chinese" | "japanese";
  /** Of a sentence without its opening words ("and", "please") and without Markdown. */
  readonly pattern: RegExp;
  /** What of the sentence is the statement: the whole, or what comes after or before the match. */
  readonly statement?: "after" | "before";
  /** Whether it must name a program, a path or an identifier. */
  readonly names_tool?: true;
  readonly example: string;
  readonly counter_example: string;
}

/** What an agent can be told to do, unlike "never mind", "always happy" and "never seen". */
const VERBS =
  "access add address alter annotate answer append apply approve ask assert assume avoid backup base batch begin block " +
  "break build bump cache call cancel capitalize cast catch change check cherry-pick choose cite clean clear clone close " +
  "comment commit compile compress configure confirm connect convert copy create declare decrypt default define delete " +
  "deploy describe disable discard display document download drop edit email emit enable encode encrypt end ensure " +
  "escape exclude execute explain export expose extend fetch filter finish fix force fork format generate group guess " +
  "handle hardcode hash hide highlight ignore import include increase indent index inherit initialize inline insert " +
  "inspect install invent join keep kill leave lint list load lock log mark mask match measure mention merge migrate mix " +
  "mock modify move mutate name nest offer omit open optimize order output overwrite parse paste pin place prefer prefix " +
  "print propose publish pull push put query quote raise read rebase recommend record refactor reference reformat " +
  "regenerate release remove rename repeat replace reply report request reset resolve respond restart retry return reuse " +
  "revert review rewrite round run sanitize save search select send separate serve set ship show sign skip sort speak " +
  "specify split squash stage start stop store stub style suggest summarize suppress swallow switch sync tag test throw " +
  "touch track translate treat trim truncate trust type uninstall update upgrade upload use validate verify version wait " +
  "warn wrap write";
const verb = `(?:${VERBS.split(" ").join("|")})`;
const end = "(?![\\p{L}\\p{N}_])";
const thing = "[^,.;:!?]{2,60}?";

/** A request to remember, or a word for "from now on", by language; what follows is the statement. */
const REMEMBER = {
  english: [
    "(?:please,? )?(?:always )?remember that",
    "(?:please,? )?remember ?[:,–—-]",
    "please,? (?:always )?remember(?: to)?",
    "from now on",
    "for (?:your )?future reference",
  ],
  german: [
    "(?:bitte )?merke? dir(?: bitte)?,? dass",
    "(?:bitte )?merke? dir(?: bitte)? ?[:,–—-]",
    "bitte merke? dir",
    "(?:bitte )?denke? (?:bitte )?(?:immer )?daran,? dass",
    "(?:bitte )?denke? (?:bitte )?daran ?[:,–—-]",
    "(?:bitte )?vergiss (?:bitte )?nicht,? dass",
    "(?:ab jetzt|ab sofort|von jetzt an|von nun an|in zukunft|zukünftig|künftig|für die zukunft|fürs nächste mal)",
  ],
  french: [
    "(?:s'il te plaît,? |stp,? )?(?:souviens-toi|rappelle-toi|retiens|souvenez-vous|rappelez-vous|retenez)(?: bien)? (?:que|qu'|de)",
    "(?:s'il te plaît,? |stp,? )?(?:souviens-toi|rappelle-toi|retiens|souvenez-vous|rappelez-vous|retenez)(?: bien)? ?[:,–—-]",
    "(?:s'il te plaît,? |stp,? )?n'oublie pas (?:que|qu')",
    "(?:à|a) partir de maintenant",
    "(?:désormais|dorénavant|(?:à|a) l'avenir|pour la prochaine fois|pour référence(?: future)?|pour la suite)",
  ],
  spanish: [
    "(?:por favor,? )?(?:recuerda|recuerde|acuérdate de|ten en cuenta|ten presente|no olvides) que",
    "(?:por favor,? )?(?:recuerda|recuerde) ?[:,–—-]",
    "por favor,? (?:recuerda|recuerde)",
    "(?:a partir de ahora|de ahora en adelante|desde ahora|en adelante|en el futuro|para (?:futura referencia|futuras referencias|referencia futura|la próxima vez|la próxima))",
  ],
} as const;

function begins(alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join("|")})${end}`, "iu");
}

export const wordPatterns: readonly WordPattern[] = [
  {
    class: "always",
    language: "english",
    pattern: new RegExp(`^(?:always|never) ${verb}${end}`, "iu"),
    example: "Always run the tests before you commit.",
    counter_example: "Never seen such an error before.",
  },
  {
    class: "always",
    language: "german",
    pattern:
      /^(?:(?:immer|niemals|nie) (?!mehr\b|wieder\b|gesehen\b).{4,120}\p{L}(?:en|ern|eln)|(?:(?:be)?nutze?|verwende?|schreibe?|nimm|halte?|lass|lege?|führe?|starte?|teste?|prüfe?|antworte?|frage?|committe?|pushe?) (?:bitte )?(?:immer|nie|niemals) .{3,120})[.!]?$/iu,
    example: "Verwende immer pnpm in diesem Projekt.",
    counter_example: "Immer dieser Fehler beim Bauen.",
  },
  {
    class: "always",
    language: "french",
    pattern:
      /^(?:(?:utilise|écris|réponds|lance|garde|ajoute|vérifie|exécute|mets|fais|utilisez|écrivez|répondez) (?:toujours) |n'(?:utilise|écris|ajoute|exécute)(?:z)? jamais |ne (?:modifie|supprime|pousse|commite|mets|lance|touche|change)(?:z)? jamais |toujours \p{L}+(?:er|ir|re) |ne jamais \p{L}+(?:er|ir|re) )/iu,
    example: "Utilise toujours des guillemets simples.",
    counter_example: "Il utilise toujours l'ancienne version.",
  },
  {
    class: "always",
    language: "spanish",
    pattern:
      /^(?:(?:usa|escribe|responde|ejecuta|añade|agrega|comprueba|mantén|pon|haz) siempre |siempre (?:usa|escribe|responde|ejecuta|añade|agrega|comprueba|mantén|pon|haz) |nunca (?:uses|escribas|respondas|ejecutes|añadas|modifiques|borres|hagas|subas|toques|cambies) |no (?:uses|escribas|modifiques|borres|toques|cambies|hagas) nunca )/iu,
    example: "Usa siempre comillas simples en el código.",
    counter_example: "Siempre falla la misma prueba.",
  },
  {
    class: "always",
    language: "chinese",
    pattern:
      /^(?:请|請)?(?:始终|始終|总是要|一律|永远不要|永遠不要|永远要|绝不要|絕不要|千万不要|千萬不要|务必|務必|每次都要|一定要)(?!记|記).{3,80}$/u,
    example: "永远不要直接推送到主分支。",
    counter_example: "为什么总是失败",
  },
  {
    class: "always",
    language: "japanese",
    pattern:
      /^(?:.{0,40}は)?(?:必ず|常に|絶対に|決して|いつも).{3,80}(?:ください|下さい|しないで|すること|しないこと|禁止)[。！]?$/u,
    example: "必ずテストを実行してからコミットしてください。",
    counter_example: "いつも同じエラーが出ます。",
  },
  {
    class: "use_not",
    language: "english",
    pattern: new RegExp(
      `^(?:use ${thing}(?:,? (?:and )?not | instead of |,? rather than |,? never |, no )\\S|(?:do not|don't|never) use ${thing}[,;.–—-]+ ?(?:but|use|instead|rather)${end})`,
      "iu",
    ),
    names_tool: true,
    example: "Use pnpm, not npm.",
    counter_example: "Use the second colour, not the first one.",
  },
  {
    class: "use_not",
    language: "german",
    pattern: /^(?:verwende?|(?:be)?nutze?|nimm|nehmt) .{2,60}?(?:,? (?:an)?statt |,? nicht |,? anstelle von )\S/iu,
    names_tool: true,
    example: "Nimm pnpm statt npm.",
    counter_example: "Nimm die zweite Farbe statt der ersten.",
  },
  {
    class: "use_not",
    language: "french",
    pattern:
      /^(?:utilise|utilisez|prends|prenez) .{2,60}?(?: au lieu de | plutôt que | à la place de |,? (?:et )?pas )\S/iu,
    names_tool: true,
    example: "Utilise pnpm au lieu de npm.",
    counter_example: "Utilise la deuxième couleur au lieu de la première.",
  },
  {
    class: "use_not",
    language: "spanish",
    pattern: /^(?:usa|utiliza|usad|emplea) .{2,60}?(?: en lugar de | en vez de |,? (?:y )?no )\S/iu,
    names_tool: true,
    example: "Usa pnpm en lugar de npm.",
    counter_example: "Usa el segundo color en lugar del primero.",
  },
  {
    class: "use_not",
    language: "chinese",
    pattern: /^(?:请|請)?(?:使用|用).{1,40}?(?:，|,|、)?(?:而不是|不要用|别用|別用|而非|代替|替代).{1,40}$/u,
    names_tool: true,
    example: "使用 pnpm，不要用 npm。",
    counter_example: "用第二个颜色，而不是第一个。",
  },
  {
    class: "use_not",
    language: "japanese",
    pattern:
      /^.{1,40}?(?:ではなく|じゃなくて|の代わりに|でなく).{1,40}(?:使って|使用して|使う|用いて)(?:ください|下さい|こと|ね)?[。！]?$/u,
    names_tool: true,
    example: "npm ではなく pnpm を使ってください。",
    counter_example: "最初の色ではなく次の色を使ってください。",
  },
  {
    class: "prefer",
    language: "english",
    pattern: /^I (?:(?:always|generally|usually|really|strongly|much) ){0,2}prefer /iu,
    example: "I prefer short answers.",
    counter_example: "I preferred the old house.",
  },
  {
    class: "prefer",
    language: "german",
    pattern: /^ich (?:bevorzuge|mag lieber|hätte (?:immer |generell )lieber|ziehe .{2,80} vor[.!]?$)/iu,
    example: "Ich bevorzuge kurze Antworten.",
    counter_example: "Ich habe den alten Stil bevorzugt.",
  },
  {
    class: "prefer",
    language: "french",
    pattern: /^(?:moi, )?je préfère /iu,
    example: "Je préfère des réponses courtes.",
    counter_example: "Il préfère des réponses courtes.",
  },
  {
    class: "prefer",
    language: "spanish",
    pattern: /^(?:yo )?prefiero /iu,
    example: "Prefiero respuestas cortas.",
    counter_example: "Prefería respuestas cortas.",
  },
  {
    class: "prefer",
    language: "chinese",
    pattern: /^我(?:更|比较|比較)?(?:喜欢|喜歡|偏好|倾向于|傾向於).{3,80}$/u,
    example: "我更喜欢简短的回答。",
    counter_example: "我不知道用户喜欢哪种回答。",
  },
  {
    class: "prefer",
    language: "japanese",
    pattern: /^(?:私は|僕は)?.{3,80}(?:のほうが|の方が)(?:好き|いい|良い)(?:です|だ)?[。！]?$/u,
    example: "短い回答のほうが好きです。",
    counter_example: "どちらの回答がいいですか。",
  },
  {
    class: "remember",
    language: "english",
    pattern: begins(REMEMBER.english),
    statement: "after",
    example: "Remember that refunds need two approvals.",
    counter_example: "Remembering that refunds need approvals is hard.",
  },
  {
    class: "remember",
    language: "german",
    pattern: begins(REMEMBER.german),
    statement: "after",
    example: "Merk dir, dass wir freitags nicht deployen.",
    counter_example: "Ich merke mir, dass wir freitags nicht deployen.",
  },
  {
    class: "remember",
    language: "french",
    pattern: begins(REMEMBER.french),
    statement: "after",
    example: "Souviens-toi que les factures sont en euros.",
    counter_example: "Tu te souviens que les factures sont en euros.",
  },
  {
    class: "remember",
    language: "spanish",
    pattern: begins(REMEMBER.spanish),
    statement: "after",
    example: "Recuerda que el horario del servidor es UTC.",
    counter_example: "Recuérdame que llame a Marta.",
  },
  {
    class: "remember",
    language: "chinese",
    pattern:
      /^(?:(?:请|請|麻烦|麻煩)?你?(?:一定)?要?(?:记住|記住|牢记|牢記|记得|記得)|(?:从|從)(?:现在|現在|今)(?:起|开始|開始|以后|以後)?|(?:以后|以後|今后|今後|往后|日后)(?!は|も|、|再|有空|有机会)|供(?:以后|将来|日后)参考)/u,
    statement: "after",
    example: "请记住，我们的接口只返回JSON格式。",
    counter_example: "你还记得昨天的错误",
  },
  {
    class: "remember",
    language: "japanese",
    pattern:
      /^(?:(?:今後|これから|今から|以後|以降|次回から|これより)(?:は|も|、)|覚えておいて(?:ください|下さい|ね|ほしい)?[、:：,。 ]|忘れないで(?:ください|ね)?[、:：,])/u,
    statement: "after",
    example: "今後は、回答を短くしてください。",
    counter_example: "これからどうしますか",
  },
  {
    class: "remember",
    language: "japanese",
    // The request comes last: …を覚えておいてください.
    pattern:
      /(?:という?こと|こと|の|と|って)?(?:を|は|も)?(?:覚えて(?:おいて)?(?:ください|下さい|ね|くれ|ほしい)?|記憶して(?:おいて)?(?:ください|下さい|ね)?|忘れないで(?:ください|下さい|ね)?)[。！!]*$/u,
    statement: "before",
    example: "毎週金曜日は休みだと覚えておいてください。",
    counter_example: "昨日のエラーを覚えていますか",
  },
  {
    class: "remember",
    language: "english",
    pattern: /,? from now on[.!]*$/iu,
    statement: "before",
    example: "Use British spelling from now on.",
    counter_example: "The rest comes from now on in small steps.",
  },
  {
    class: "must",
    language: "english",
    pattern: new RegExp(
      `^(?:(?!(?:we|you|i|he|she|they|it|this|that|there) )${thing} (?:must (?:not|never|only|always)|MUST(?: NOT)?|(?:should|must) (?:always|never))|(?:[Ee]very|[Aa]ll|[Ee]ach) ${thing} must|(?:[Kk]eep )?[Tt]he invariant that|\\S*[\\p{Ll}_]\\p{Lu}?\\S*(?:\\(\\)|\`)? should (?:return|throw|never|not)) `,
      "u",
    ),
    example: "Every migration must be reversible.",
    counter_example: "It must be the cache again.",
  },
  {
    class: "do_not",
    language: "english",
    pattern: new RegExp(
      `^(?:(?:do not|don't|avoid|stop) ${verb.replace(")", "|touching|using|adding|writing|creating|running|committing|pushing|changing|editing|deleting|mocking|guessing)")}${end}.{2,120}(?:,? (?:but )?use |because |unless |without (?:asking|my|checking|permission|approval)|, instead )|no [^,.;:!?]{2,40},? only [^,.;:!?]{2,40}[.!]?$)`,
      "iu",
    ),
    example: "Do not edit files in dist because the build writes them.",
    counter_example: "Do not worry because it works.",
  },
  {
    class: "whenever",
    language: "english",
    pattern:
      /^(?:(?:when|whenever|if|after|every time) you \p{L}+ .{2,80}?, ?(?:please )?(?:always|never|use|run|ask|write|add|update|make sure|check|do not|don't)|when (?:writing|editing|creating|adding|changing|reviewing|testing|naming) .{2,60}?, |before (?:any|every|each|you commit|you push|committing|pushing|starting|running|merging|editing|creating) ?[^,]{0,60}?, )/iu,
    example: "Whenever you change the schema, run the generator.",
    counter_example: "When you are done, tell me.",
  },
  {
    class: "we_use",
    language: "english",
    pattern: new RegExp(
      `^(?:(?:we|you|the agent|agents) (?:always|never) ${verb}${end}|we (?:will|should|only) (?:use|keep)${end}|you (?:have to|must|need to) .{3,80} before .{3,60}|make sure (?:that )?you (?:don't|do not|never) use )`,
      "iu",
    ),
    names_tool: true,
    example: "We always use vitest in this repository.",
    counter_example: "You always forget the tests.",
  },
];

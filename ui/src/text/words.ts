// The shape of the words: the keys of `en.ts`, each with any text. A word that English does not have does not compile; one
// that a language lacks is said in English, and `words.test.ts` names it.

import type { en } from "./en.ts";

type Texts<T> = { readonly [K in keyof T]?: T[K] extends string ? string : Texts<T[K]> };

/** The words of another language. */
export type Words = Texts<typeof en>;

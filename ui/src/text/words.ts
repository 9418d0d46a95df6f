// The shape of the words: the keys of `en.ts`, each with any text. What a language lacks, or has too much, does not compile.

import type { en } from "./en.ts";

type Texts<T> = { readonly [K in keyof T]: T[K] extends string ? string : Texts<T[K]> };

/** All words of a language. */
export type Words = Texts<typeof en>;

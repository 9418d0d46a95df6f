// The shape of the words: the keys of `en/`, each with any text. What another language lacks, or has and English has not,
// does not compile in the file where it is missing; what is filled in and left empty is held equal by `words.test.ts`.

import type { en } from "./en/index.ts";

type Texts<T> = { readonly [K in keyof T]: T[K] extends string ? string : Texts<T[K]> };

/** The words of another language. */
export type Words = Texts<typeof en>;

// Tasks to begin with, for what offices, schools and research have on their tables. Each is a whole task as text: a person
// picks a folder and changes what is different with them.

/** A task to begin with. */
export interface Template {
  id: string;
  title: string;
  /** What it does, in one sentence. */
  about: string;
  source: string;
}

/** All of them, in the order in which they are shown. */
export const templates: readonly Template[] = [
  {
    id: "summary",
    title: "Summarize a folder of documents",
    about: "Reads every text in a folder and writes one page that a busy person can read.",
    source: `name: Summary of a folder
goal: Read all documents in the folder and summarize what they say, what they agree on and where they differ.
context: {}
expectedOutput:
  - path: summary.md
    description: One page for someone who has not read the documents
    criteria:
      - Names every document that was read
      - Says where the documents disagree, or that they do not
      - text: At most 500 words
        check: { words: { max: 500 } }
`,
  },
  {
    id: "meeting",
    title: "Turn meeting notes into decisions and tasks",
    about: "Finds what was decided, who does what and by when, and what stayed open.",
    source: `name: Meeting notes
goal: Read the meeting notes in the folder. List what was decided, who does what by when, and what stayed open.
context: {}
expectedOutput:
  - path: decisions.md
    description: What was decided and what stayed open
    criteria:
      - Every decision quotes the place in the notes that shows it
      - Nothing is listed as decided that was only discussed
  - path: tasks.csv
    description: One row for each task
    criteria:
      - text: Columns are task, person, due
        check: { csv: { columns: [task, person, due] } }
      - text: Every task says what is to be done
        check: { csv: { not_null: [task] } }
`,
  },
  {
    id: "expenses",
    title: "Add up expenses and find the odd ones",
    about: "Totals by category from CSV files, and a list of what someone should look at.",
    source: `name: Expenses
goal: Add up the expense files in the folder by category and month, explain the largest change, and list every expense that someone should check.
context:
  limit: 500
expectedOutput:
  - path: report.md
    description: A report that a busy manager can read
    criteria:
      - Explains in plain words where spending changed most
      - text: At most 600 words
        check: { words: { max: 600 } }
  - path: flagged.csv
    description: Expenses above the limit or without a receipt, each with its reason
    criteria:
      - text: Every expense is listed once
        check: { csv: { unique: [id] } }
      - Each row says why it is listed
`,
  },
  {
    id: "contacts",
    title: "Clean up an address list",
    about: "Removes doubles, makes names and numbers look alike, and says what it was not sure about.",
    source: `name: Address list
goal: Clean the address list in the folder. Merge doubles, write names and phone numbers in one way, and keep what is uncertain apart. Change no original file.
context: {}
expectedOutput:
  - path: clean.csv
    description: The cleaned list
    criteria:
      - text: Every address is there once
        check: { csv: { unique: [email] } }
      - text: It has at least one row
        check: { csv: { rows: { min: 1 } } }
  - path: unsure.md
    description: Rows that a person should look at, each with the reason
    criteria:
      - Names the row of the original list for each of them
`,
  },
  {
    id: "students",
    title: "See which students need attention",
    about: "From a grade book: who is falling behind, since when, and in what.",
    source: `name: Students who need attention
goal: Read the grade book in the folder. Find students whose results are falling or below the limit, say since when and in which subjects, and rank them by urgency.
context:
  limit: 60
expectedOutput:
  - path: attention.csv
    description: One row for each student
    criteria:
      - text: Columns are name, overall, urgency
        check: { csv: { columns: [name, overall, urgency] } }
      - text: Everyone is listed once
        check: { csv: { unique: [name] } }
      - Urgency follows from the numbers in the grade book
  - path: letter.md
    description: A kind, short note to the parents of the first student, without any other name in it
    criteria:
      - text: Short enough to read
        check: { words: { max: 200 } }
`,
  },
  {
    id: "quiz",
    title: "Make a quiz from lesson notes",
    about: "Questions with answers, every answer found in your own notes.",
    source: `name: Quiz
goal: Make a quiz of ten questions from the lesson notes in the folder, from easy to hard, with an answer sheet.
context:
  age: 14
expectedOutput:
  - path: quiz.md
    description: Ten numbered questions without their answers
    criteria:
      - There are ten questions, and the later ones are harder
      - Suits the age that is given
  - path: answers.md
    description: The answer to each question, with the place in the notes that shows it
    criteria:
      - Every answer quotes the notes
`,
  },
  {
    id: "survey",
    title: "Find the themes in survey answers",
    about: "Groups open answers, counts them, and lets people speak in their own words.",
    source: `name: Survey
goal: Read the open answers of the survey in the folder. Group them into themes, count how many people speak of each, and show what they say in their own words.
context: {}
expectedOutput:
  - path: themes.csv
    description: One row for each theme
    criteria:
      - text: Columns are theme, people, share
        check: { csv: { columns: [theme, people, share] } }
      - text: Every theme is listed once
        check: { csv: { unique: [theme] } }
  - path: report.md
    description: What people say, theme by theme
    criteria:
      - Each theme is shown with two quotations that stand in the answers word for word
      - Says what is rare and yet important
`,
  },
  {
    id: "papers",
    title: "Make a table of research papers",
    about: "Question, method, sample and finding of each paper, side by side.",
    source: `name: Papers
goal: Read the papers in the folder and set them side by side. What did each ask, how was it studied, with whom, and what came of it?
context:
  question: ""
expectedOutput:
  - path: papers.csv
    description: One row for each paper
    criteria:
      - text: Columns are paper, question, method, sample, finding
        check: { csv: { columns: [paper, question, method, sample, finding] } }
      - text: Every paper is there once
        check: { csv: { unique: [paper] } }
      - What a paper does not say is left empty and not guessed
  - path: review.md
    description: What the papers show together, and what is still open
    criteria:
      - Every claim names the paper that it comes from
`,
  },
  {
    id: "compare",
    title: "Compare two price lists",
    about: "What became dearer or cheaper, what is new, what is gone.",
    source: `name: Price lists
goal: Compare the two price lists in the folder. List what became dearer, what became cheaper, what is new and what is gone, with both prices and the difference.
context: {}
expectedOutput:
  - path: changes.csv
    description: One row for each article that is not the same in both lists
    criteria:
      - text: Columns are article, before, after, difference
        check: { csv: { columns: [article, before, after, difference] } }
      - text: Every article is listed once
        check: { csv: { unique: [article] } }
  - path: summary.md
    description: What matters of it, in a few sentences
    criteria:
      - text: At most 200 words
        check: { words: { max: 200 } }
`,
  },
  {
    id: "newsletter",
    title: "Draft a newsletter from notes",
    about: "Short items in one voice, with nothing in it that is not in the notes.",
    source: `name: Newsletter
goal: Draft this month's newsletter from the notes in the folder, with short items, the most important first.
context:
  readers: colleagues
expectedOutput:
  - path: newsletter.md
    description: The newsletter, ready to be sent
    criteria:
      - Nothing is in it that the notes do not say
      - Sounds friendly, and has no exclamation marks
      - text: Between 200 and 600 words
        check: { words: { min: 200, max: 600 } }
`,
  },
];

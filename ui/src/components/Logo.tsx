/** The sign of the app: a check on a rounded square. */
export function Logo({ size = 18 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 18 18" aria-hidden="true">
      <rect width="18" height="18" rx="5" fill="var(--t-accent)" />
      <path d="m5 9.3 2.8 2.8L13 6.6" fill="none" stroke="var(--t-on-accent)" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

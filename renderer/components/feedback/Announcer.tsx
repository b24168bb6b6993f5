import { create } from 'zustand';

const useAnnouncement = create<{ readonly text: string }>(() => ({ text: '' }));

/** Queues a text that a screen reader reads after its current one. */
export const announce = (text: string) => useAnnouncement.setState({ text });

export function Announcer() {
  const text = useAnnouncement((state) => state.text);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}

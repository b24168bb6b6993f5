import { create } from 'zustand';

const useAnnouncement = create<{ readonly text: string }>(() => ({ text: '' }));

/** Has a screen reader say something when it is done with what it is saying. */
export const announce = (text: string) => useAnnouncement.setState({ text });

export function Announcer() {
  const text = useAnnouncement((state) => state.text);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}

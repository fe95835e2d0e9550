// One turn: the act first, then words, grade, what the seat did not know, what it read and saw.
import type { JSX } from "preact";
import type { Call, Mark, Turn } from "../contract";
import { actOf, callText, markOf, placeOf, readingsOf, spoken, turnAt, unknownFacts, type Gap, type Story } from "../model/story";
import { moment, plain, signed, words } from "../model/text";
import { Fold, GradeMark, Printed, SeatName } from "./bits";

interface TurnProps {
  readonly story: Story;
  readonly turn: number;
  readonly truth: boolean;
  readonly branch: ((call: number) => void) | null;
}

export function TurnPane({ story, turn, truth, branch }: TurnProps): JSX.Element {
  const shown = turnAt(story.episode, turn);
  return shown ? <OneTurn story={story} turn={shown} truth={truth} branch={branch} /> : <NoTurn story={story} turn={turn} />;
}

function NoTurn({ story, turn }: { story: Story; turn: number }): JSX.Element {
  const before = turn < 1;
  if (!before && !story.episode.over) return <p class="hint">This turn has not been played yet.</p>;
  return (
    <article class="turn">
      <h2>{before ? "Before the first page" : "After the last turn"} <small>{moment(story.episode.axis, placeOf(story.episode, turn))}</small></h2>
      <p>{before ? "Nobody is looking yet. Changes land, and users may see their first errors." : "The incident is over."}</p>
    </article>
  );
}

type OneTurnProps = Omit<TurnProps, "turn"> & { readonly turn: Turn };

function OneTurn({ story, turn, truth, branch }: OneTurnProps): JSX.Element {
  const { episode, incident } = story;
  const mark = truth ? markOf(episode, turn.n) : undefined;
  const act = actOf(turn);
  const readings = readingsOf(turn);
  const first = turn.calls[0];
  return (
    <article class="turn">
      <header>
        <h2>Turn {turn.n}{episode.axis.unit === "minute" && <small> {moment(episode.axis, turn.at)}</small>}</h2>
        <SeatName seat={turn.seat} seats={incident.seats} />
        {mark && <GradeMark grade={mark.grade} long />}
        {mark && <b class={`sum ${mark.points < 0 ? "minus" : "plus"}`} title="Points of this turn">{signed(mark.points)}</b>}
      </header>
      {act ? <Act act={act} /> : <p class="hint">This turn is not over.</p>}
      {act && <Words call={act} seats={incident.seats} seat={turn.seat} />}
      {mark && <Judgement mark={mark} />}
      {truth && episode.truth && <Unknown gaps={unknownFacts(episode, turn)} seat={turn.seat} facts={episode.truth.facts.length} />}
      {(readings.length > 0 || episode.env === "fleet") && <section>
        <h3>{readings.length ? "Read before it acted" : "It read nothing in this turn"}</h3>
        {readings.map((call) => <Reading key={call.n} call={call} />)}
      </section>}
      <Fold title={`What ${words(turn.seat)} saw`}><Printed text={turn.shown} label={`What ${words(turn.seat)} saw in turn ${turn.n}`} /></Fold>
      <Brief story={story} seat={turn.seat} />
      {branch && first && <p class="row"><button type="button" onClick={() => branch(first.n)}>Branch from here: take this seat</button></p>}
    </article>
  );
}

const Act = ({ act }: { act: Call }): JSX.Element => (
  <div class={`act ${act.refused ? "refused" : ""}`}>
    <div class="row spread"><code>{callText(act)}</code><span class="hint">{act.refused ? "refused" : "ends the turn"}</span></div>
    {act.result && <p class="answer">{act.result}</p>}
  </div>
);

function Words({ call, seat, seats }: { call: Call; seat: string; seats: readonly string[] }): JSX.Element | null {
  const [say, ask] = [spoken(call, "say"), spoken(call, "ask")];
  if (!say && !ask && !call.message) return null;
  return (
    <blockquote class={`seat-${Math.max(0, seats.indexOf(seat)) % 4}`}>
      {say && <p>{say}</p>}
      {ask && <p class="hint">Asks: {ask}</p>}
      {call.message && call.message !== say && <Fold title="What the model wrote beside the call"><p class="message">{call.message}</p></Fold>}
    </blockquote>
  );
}

function Judgement({ mark }: { mark: Mark }): JSX.Element | null {
  if (!mark.why && !mark.best) return null;
  return (
    <div class={`judgement ${mark.grade}`}>
      <p>{mark.loss > 0.5 && <b>Costs {plain(mark.loss, 0)} points against the best act. </b>}{mark.why}</p>
      {mark.best && <p>Best: <code>{mark.best}</code></p>}
    </div>
  );
}

function Unknown({ gaps, seat, facts }: { gaps: readonly Gap[]; seat: string; facts: number }): JSX.Element | null {
  if (!facts) return null;
  const title = gaps.length ? `What ${words(seat)} did not know` : `${words(seat)} knew every fact`;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="gaps">
        {gaps.map(({ fact, known }) => (
          <li key={fact.id}>
            <span>{fact.text}{fact.proof && <span class="tag">proof</span>}</span>
            <span class="hint">{known.length ? `known to ${[...new Set(known.map((l) => words(l.seat)))].join(", ")}` : "read by nobody yet"}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const Reading = ({ call }: { call: Call }): JSX.Element => (
  <div class="reading">
    <div class="row spread"><code>{callText(call)}</code>{call.reading && <span class="tag">{call.reading}</span>}{call.refused && <span class="tag">refused</span>}</div>
    {call.message && <p class="message">{call.message}</p>}
    <Printed text={call.result} label={`Answer to ${callText(call)}`} />
  </div>
);

function Brief({ story, seat }: { story: Story; seat: string }): JSX.Element | null {
  const text = story.incident.briefs[seat];
  return text ? <Fold title={`What ${words(seat)} was told at first`}><Printed text={text} label={`Brief of ${words(seat)}`} /></Fold> : null;
}

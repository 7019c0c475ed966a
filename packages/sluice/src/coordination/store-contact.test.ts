import { describe, expect, it } from 'vitest'
import { StoreContact } from './store-contact.ts'

describe('contact with the store', () => {
  it('is not known until the store tells its epoch', () => {
    const contact = new StoreContact()
    contact.noteAnswer(undefined, 100)
    expect(contact.isKnown).toBe(false)
    expect(contact.current.until).toBe(-Infinity)
    contact.noteAnswer(7, 100)
    expect(contact.isKnown).toBe(true)
    expect(contact.current.until).toBe(100)
  })

  it('lasts longer with each answer, and never shorter', () => {
    const contact = new StoreContact()
    contact.noteAnswer(7, 100)
    const first = contact.current
    contact.noteAnswer(7, 300)
    contact.noteAnswer(7, 200)
    contact.noteAnswer(undefined, 900)
    expect(contact.current).toBe(first)
    expect(first.until).toBe(300)
  })

  it('ends for good when the store has another record, also when an answer of the first comes late', () => {
    const contact = new StoreContact()
    contact.noteAnswer(7, 300)
    const first = contact.current
    contact.noteAnswer(8, 100)
    const second = contact.current
    expect([first.until, second.until]).toEqual([-Infinity, 100])
    contact.noteAnswer(7, 400)
    expect([first.until, second.until]).toEqual([-Infinity, -Infinity])
    expect(contact.current.until).toBe(400)
  })
})

#pragma once

namespace ashlar {

/// Put one in a class as its first base to let it live in a List.
struct ListHook {
  ListHook* previous = nullptr;
  ListHook* next = nullptr;
  bool linked() const { return next != nullptr; }
};

/// A doubly linked list through hooks inside the elements. Owns nothing, allocates nothing. Not thread-safe.
template <class T>
class List {
 public:
  List() { head_.previous = head_.next = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return head_.next == &head_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(head_.next); }
  T* back() { return empty() ? nullptr : static_cast<T*>(head_.previous); }
  void push_back(T* element) {
    ListHook* hook = element;
    hook->previous = head_.previous;
    hook->next = &head_;
    head_.previous->next = hook;
    head_.previous = hook;
  }
  void push_front(T* element) {
    ListHook* hook = element;
    hook->previous = &head_;
    hook->next = head_.next;
    head_.next->previous = hook;
    head_.next = hook;
  }
  static void remove(T* element) {
    ListHook* hook = element;
    hook->previous->next = hook->next;
    hook->next->previous = hook->previous;
    hook->previous = hook->next = nullptr;
  }
  T* pop_front() {
    T* element = front();
    if (element) remove(element);
    return element;
  }

  class Iterator {
   public:
    explicit Iterator(ListHook* at) : at_(at) {}
    T& operator*() const { return *static_cast<T*>(at_); }
    T* operator->() const { return static_cast<T*>(at_); }
    Iterator& operator++() {
      at_ = at_->next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    ListHook* at_;
  };
  Iterator begin() { return Iterator(head_.next); }
  Iterator end() { return Iterator(&head_); }

 private:
  ListHook head_;
};

}  // namespace ashlar
